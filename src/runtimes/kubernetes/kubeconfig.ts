import * as v from "valibot";
import { parse } from "yaml";
import { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";

const maxBytes = 256 * 1024;

/** What a kubeconfig says of one context. */
export interface KubeconfigAccess {
  server: string;
  tls_server_name: string | null;
  /** PEM. */
  ca: string | null;
  cert: string | null;
  key: string | null;
  token: string | null;
  basic: { username: string; password: string } | null;
}

const Text = v.nullish(v.string(), null);
/** Members that run a program, read a file or use anything else of our machine, and impersonation: refused by name. */
const refusedOfCluster = ["certificate-authority", "proxy-url"];
const refusedOfUser = [
  "exec",
  "auth-provider",
  "client-certificate",
  "client-key",
  "tokenFile",
  "as",
  "as-uid",
  "as-groups",
  "as-user-extra",
];

const Cluster = v.looseObject({
  server: v.string(),
  "certificate-authority-data": Text,
  "tls-server-name": Text,
  "insecure-skip-tls-verify": v.nullish(v.boolean(), false),
});
const User = v.looseObject({
  "client-certificate-data": Text,
  "client-key-data": Text,
  token: Text,
  username: Text,
  password: Text,
});
const Members = v.record(v.string(), v.unknown());
const Kubeconfig = v.looseObject({
  "current-context": Text,
  clusters: v.nullish(v.array(v.looseObject({ name: v.string(), cluster: v.nullish(Members) })), []),
  users: v.nullish(v.array(v.looseObject({ name: v.string(), user: v.nullish(Members) })), []),
  contexts: v.nullish(
    v.array(
      v.looseObject({
        name: v.string(),
        context: v.nullish(v.looseObject({ cluster: v.string(), user: v.nullish(v.string(), "") })),
      }),
    ),
    [],
  ),
});

export type Kubeconfig = v.InferOutput<typeof Kubeconfig>;

const rejected = (said: Message, field = "secret.kubeconfig") => new PluginError("rejected", said, { field });

/** The contexts of a kubeconfig, each with the server that it leads to, and the current one. */
export function contextsIn({ clusters, contexts, "current-context": current }: Kubeconfig): {
  contexts: readonly { name: string; server: string }[];
  current: string;
} {
  const serverOf = (cluster: string) => clusters?.find(({ name }) => name === cluster)?.cluster?.server;
  const found = (contexts ?? []).map(({ name, context }) => {
    const server = serverOf(context?.cluster ?? "");
    return { name, server: typeof server === "string" ? server : "" };
  });
  return { contexts: found, current: found.some(({ name }) => name === current) ? (current ?? "") : "" };
}

/**
 * Reads one context of a kubeconfig, `context` or the current one. Nothing in it may run a program, read a file of this machine or disable
 * verification: such members are refused by name. Throws `rejected`.
 */
export function readKubeconfig(kubeconfig: Kubeconfig, context: string): KubeconfigAccess {
  const { clusters, users, contexts: listed, "current-context": current } = kubeconfig;
  const contexts = listed ?? [];
  const known = contexts.map((each) => each.name);
  const name = context === "" ? current : context;
  if (name == null || name === "") {
    throw rejected(say("kubernetes.context_missing", { known }), known.length === 0 ? undefined : contextField);
  }
  const chosen = contexts.find((each) => each.name === name)?.context;
  if (chosen == null) throw rejected(say("kubernetes.context_unknown", { context: name, known }), contextField);
  const cluster = clusters?.find((each) => each.name === chosen.cluster)?.cluster;
  if (cluster == null)
    throw rejected(say("kubernetes.kubeconfig_incomplete", { kind: "cluster", name: chosen.cluster }));
  const user = chosen.user === "" ? {} : users?.find((each) => each.name === chosen.user)?.user;
  if (user == null) throw rejected(say("kubernetes.kubeconfig_incomplete", { kind: "user", name: chosen.user ?? "" }));
  refuse(cluster, refusedOfCluster);
  refuse(user, refusedOfUser);
  const { success, output: of } = v.safeParse(Cluster, cluster);
  const login = v.safeParse(User, user);
  if (!success || !login.success) throw rejected(say("kubernetes.kubeconfig_unreadable"));
  if (of["insecure-skip-tls-verify"] === true) throw rejected(say("kubernetes.unverified"));
  const { username, password, token } = login.output;
  return {
    server: of.server,
    tls_server_name: of["tls-server-name"],
    ca: decoded(of["certificate-authority-data"], "certificate-authority-data"),
    cert: decoded(login.output["client-certificate-data"], "client-certificate-data"),
    key: decoded(login.output["client-key-data"], "client-key-data"),
    token,
    basic: username === null || password === null ? null : { username, password },
  };
}

const contextField = "config.context";

/** Throws `rejected`. */
export function parseKubeconfig(text: string): Kubeconfig {
  if (Buffer.byteLength(text) > maxBytes)
    throw rejected(say("kubernetes.kubeconfig_too_large", { kib: maxBytes / 1024 }));
  const config = v.safeParse(Kubeconfig, parseYaml(text));
  if (!config.success) throw rejected(say("kubernetes.kubeconfig_unreadable"));
  return config.output;
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0, schema: "core" });
  } catch {
    throw rejected(say("kubernetes.kubeconfig_unreadable"));
  }
}

function refuse(found: object, refused: readonly string[]): void {
  const name = refused.find((each) => each in found);
  if (name !== undefined) throw rejected(say("kubernetes.kubeconfig_refused", { member: name }));
}

function decoded(base64: string | null, name: string): string | null {
  if (base64 === null || base64 === "") return null;
  const text = Buffer.from(base64, "base64").toString("utf8");
  if (!text.includes("-----BEGIN ")) throw rejected(say("kubernetes.not_pem", { member: name }));
  return text;
}
