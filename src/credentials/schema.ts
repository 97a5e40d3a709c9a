import * as v from "valibot";
import { Description, Instant, Name, NullableInstant } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";
import { issue } from "../messages/message.ts";
import { ProblemSchema } from "../messages/schema.ts";

const maxSecretLength = 65_536;
/** A kubeconfig may hold the certificates of many clusters. */
const maxKubeconfigLength = 262_144;

const text = (title: string, description = "", maxLength = maxSecretLength) =>
  v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(maxLength),
    v.title(title),
    v.description(description),
    v.metadata({ secret: true }),
  );
const multiline = (title: string, description = "", maxLength = maxSecretLength) =>
  v.pipe(text(title, description, maxLength), v.metadata({ secret: true, multiline: true, file: true }));

const token = (prefixes: readonly string[], description: string) =>
  v.strictObject({
    token: v.pipe(
      text("Personal access token", description),
      v.check(
        (value) => prefixes.some((prefix) => value.startsWith(prefix)),
        issue("credentials.token_prefix", { prefixes }),
      ),
      v.regex(/^[\x21-\x7e]+$/, issue("credentials.token_with_spaces")),
    ),
  });

const Engine = v.strictObject({
  ca_certificate: v.optional(multiline("CA certificate", "In PEM format; verifies the engine's certificate")),
  client_certificate: v.optional(multiline("Client certificate", "In PEM format")),
  client_key: v.optional(multiline("Client key", "In PEM format")),
  username: v.optional(
    v.pipe(
      text("User name", "For the registry that images are pulled from, not for the engine"),
      v.metadata({ secret: false }),
    ),
  ),
  password: v.optional(text("Password", "For that registry; an access token works too")),
});

/** What each credential kind holds; the plug-in of the same kind receives it parsed. */
export const secretSchemas = {
  github: token(["ghp_", "github_pat_", "gho_", "ghs_"], 'Begins with "ghp_" or "github_pat_"'),
  gitlab: token(["glpat-", "gldt-", "glptt-"], 'Begins with "glpat-"'),
  gitea: v.strictObject({ token: text("Application token", "From the user settings of Gitea or Forgejo") }),
  helm: v.strictObject({
    basic_auth: v.pipe(
      text("User name and password", 'In the form "username:password"'),
      v.regex(/^[^:]+:.+$/s, issue("credentials.basic_auth")),
    ),
  }),
  oci: v.strictObject({
    username: v.pipe(text("User name"), v.metadata({ secret: false })),
    password: text("Password", "A personal access token works too"),
  }),
  docker: Engine,
  podman: Engine,
  kubernetes: v.strictObject({
    kubeconfig: v.optional(
      multiline(
        "Kubeconfig",
        "Must contain its data, as from `kubectl config view --raw --flatten`",
        maxKubeconfigLength,
      ),
    ),
    token: v.optional(text("Bearer token")),
    client_certificate: v.optional(multiline("Client certificate", "In PEM format")),
    client_key: v.optional(multiline("Client key", "In PEM format")),
    ca_certificate: v.optional(multiline("CA certificate", "In PEM format")),
  }),
  portainer: v.strictObject({ api_key: text("API key", "From the account page of Portainer") }),
} as const;

export type CredentialKind = keyof typeof secretSchemas;
export type CredentialSecret<K extends CredentialKind> = v.InferOutput<(typeof secretSchemas)[K]>;

export const credentialKindTitles: Readonly<Record<CredentialKind, string>> = {
  github: "GitHub",
  gitlab: "GitLab",
  gitea: "Gitea or Forgejo",
  helm: "Helm chart repository",
  oci: "OCI or Docker registry",
  docker: "Docker Engine",
  podman: "Podman engine",
  kubernetes: "Kubernetes cluster",
  portainer: "Portainer",
};

export const credentialKinds = [
  "github",
  "gitlab",
  "gitea",
  "helm",
  "oci",
  "docker",
  "podman",
  "kubernetes",
  "portainer",
] as const satisfies readonly CredentialKind[];

const option = <K extends CredentialKind>(kind: K) =>
  v.strictObject({
    kind: v.pipe(
      v.literal(kind),
      v.title("Type"),
      v.metadata({ immutable: true, option_titles: credentialKindTitles }),
    ),
    name: Name,
    secret: v.pipe(secretSchemas[kind], v.title("Secret")),
    description: Description,
  });

export const CredentialInput = v.variant("kind", [
  option("github"),
  option("gitlab"),
  option("gitea"),
  option("helm"),
  option("oci"),
  option("docker"),
  option("podman"),
  option("kubernetes"),
  option("portainer"),
]);
export type CredentialInput = v.InferOutput<typeof CredentialInput>;

/** A field left out keeps its value, and so do members of `secret`. A member set to null is removed. */
export const CredentialPatch = v.strictObject({
  name: v.optional(Name),
  description: v.optional(Description.wrapped),
  secret: v.optional(v.record(v.pipe(v.string(), v.maxLength(50)), v.nullable(v.string()))),
});

/** `unreadable`: its secret cannot be decrypted, or is of a kind that this version does not know. `refused`: by at least one of those that it is used at. */
export const credentialStates = ["unreadable", "refused", "used", "unused"] as const;

export const credentialList: ListShape = {
  sorts: ["name", "kind", "state", "changed"],
  filters: { state: credentialStates, kind: credentialKinds },
  searched: "Part of a name or description",
};

/** Where a credential is refused: by a host, for sources of trackers, or by the runtime of a connection. */
const CredentialRefusal = v.object({
  by: v.picklist(["host", "connection"]),
  /** The host or the name of the connection. */
  name: v.string(),
  /** Of the connection. */
  id: v.nullable(v.string()),
  since: NullableInstant,
  error: ProblemSchema,
});
export type CredentialRefusal = v.InferOutput<typeof CredentialRefusal>;

export const CredentialView = v.object({
  id: v.string(),
  name: v.string(),
  /** An unknown kind was stored by a later version. */
  kind: v.string(),
  description: v.string(),
  /** The members of the secret that are set; never their values. */
  secret_fields: v.array(v.string()),
  state: v.picklist(credentialStates),
  /** Why its secret cannot be used: `secret_unreadable`, until another is entered, or `kind_unknown`. What is stored stays as it is. */
  problem: v.nullable(ProblemSchema),
  /** Where it is refused now. */
  refusals: v.array(CredentialRefusal),
  users: v.array(v.object({ kind: v.picklist(["connection", "tracker"]), id: v.string(), name: v.string() })),
  created_at: Instant,
  updated_at: Instant,
});
export type CredentialView = v.InferOutput<typeof CredentialView>;

export function credentialStateOf({
  problem,
  refusals,
  users,
}: Pick<CredentialView, "problem" | "refusals" | "users">) {
  if (problem !== null) return "unreadable";
  if (refusals.length > 0) return "refused";
  return users.length > 0 ? "used" : "unused";
}

/**
 * The parts of a credential that must never appear in a log. Not the user name: hiding every "docker" would hide what the log is for. The
 * password of a pair `username:password` counts separately too.
 */
export function secretTexts(secret: Readonly<Record<string, unknown>>): readonly string[] {
  const texts: string[] = [];
  for (const [member, value] of Object.entries(secret)) {
    if (typeof value !== "string" || member === "username") continue;
    texts.push(value);
    if (member === "basic_auth") texts.push(value.slice(value.indexOf(":") + 1));
  }
  return texts;
}
