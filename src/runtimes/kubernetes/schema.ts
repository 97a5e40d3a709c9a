import * as v from "valibot";
import { issue } from "../../messages/message.ts";

/** How long a rollout may stall: by default, what Kubernetes itself allows a Deployment. */
const defaultStallSeconds = 600;
const maxNamespaces = 100;

/** A namespace's name: a label of RFC 1123. */
const isNamespace = (text: string) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);

/** Names separated by commas or white space, each once. */
export function namespacesIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];
}

const outsideCluster = { field: "in_cluster", is: ["false"] };

export const Config = v.strictObject({
  in_cluster: v.optional(
    v.pipe(
      v.boolean(),
      v.title("In-cluster mode"),
      v.description("Tidemark runs in this cluster and uses the service account of its pod"),
    ),
    false,
  ),
  server: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.maxLength(512),
      v.check((text) => text === "" || isServer(text), issue("kubernetes.server_wanted")),
      v.title("API server address"),
      v.description("For a token or a client certificate; a kubeconfig has its own. https only"),
      v.metadata({ example: "https://cluster.example:6443", shown_when: outsideCluster }),
    ),
    "",
  ),
  context: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.maxLength(253),
      v.title("Context"),
      v.description("A context of the kubeconfig; blank means its current one"),
      v.metadata({ shown_when: outsideCluster }),
    ),
    "",
  ),
  namespaces: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.maxLength(7000),
      v.check((text) => namespacesIn(text).every(isNamespace), issue("kubernetes.namespaces_wanted")),
      v.check(
        (text) => namespacesIn(text).length <= maxNamespaces,
        issue("kubernetes.too_many_namespaces", { limit: maxNamespaces }),
      ),
      v.title("Namespaces"),
      v.description("Separated by commas; blank means every namespace that the credential can list"),
    ),
    "",
  ),
  helm: v.optional(
    v.pipe(
      v.boolean(),
      v.title("Helm releases"),
      v.description(
        "Lists and updates Helm releases too; requires permission to read where Helm stores them, and the helm program",
      ),
    ),
    true,
  ),
  stall_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(10),
      v.maxValue(86_400),
      v.title("Rollout stall limit (seconds)"),
      v.description(
        "A rollout without any progress for this long has failed. A Deployment's own progress deadline counts too",
      ),
      v.metadata({ advanced: true }),
    ),
    defaultStallSeconds,
  ),
});
export type Config = v.InferOutput<typeof Config>;

/** An https address without user, path, query and fragment. */
export function isServer(text: string): boolean {
  if (!/^https:\/\/[^/?#@\s\\]+\/?$/.test(text) || !URL.canParse(text)) return false;
  return new URL(text).protocol === "https:";
}

/** Blank and absent members are one: a form sends the first, the API the second. */
const Text = v.pipe(
  v.nullish(v.string(), ""),
  v.transform((text) => (text.trim() === "" ? null : text)),
);

export const Secret = v.object({
  kubeconfig: Text,
  token: Text,
  client_certificate: Text,
  client_key: Text,
  ca_certificate: Text,
});
export type Secret = v.InferOutput<typeof Secret>;
