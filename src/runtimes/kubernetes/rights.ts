import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { Refusal } from "../target.ts";
import type { Cluster } from "./client.ts";
import { allNamespaces } from "./discover.ts";
import { rules, workloadKinds } from "./workloads.ts";

export interface Right {
  group: string;
  /** With its subresource, if any, as a Role names it. */
  resource: string;
  verbs: readonly string[];
  /** What does not work without it: updates, or only explanations. */
  is_needed: boolean;
}

/** What the documented Role grants. */
export const neededRights: readonly Right[] = [
  ...workloadKinds.map((kind) => ({
    group: rules[kind].group,
    resource: rules[kind].resource,
    verbs: ["get", "list", "watch", "patch"],
    is_needed: true,
  })),
  { group: "", resource: "pods", verbs: ["list"], is_needed: true },
  { group: "", resource: "events", verbs: ["list"], is_needed: false },
  { group: "", resource: "pods/log", verbs: ["get"], is_needed: false },
];

const Access = v.object({ status: v.object({ allowed: v.boolean() }) });

export interface Lacking {
  right: Right;
  verbs: readonly string[];
  /** Blank for the whole cluster. */
  namespace: string;
}

export interface MissingRights {
  /** One for each resource, and one for the namespaces in which nothing can be listed. */
  warnings: readonly Refusal[];
  /** Excludes a namespace that the connection does not name and in which nothing can be listed: it is left out. */
  lacking: readonly Lacking[];
  /** Whether the cluster was asked as a whole, not each of its namespaces. */
  is_cluster_wide: boolean;
}

/** What the credential lacks. `namespaces`: none for the whole cluster, or all that it has if the credential is for some of them. */
export async function findMissingRights(cluster: Cluster, namespaces: readonly string[]): Promise<MissingRights> {
  const places = await placesToAsk(cluster, namespaces, listed);
  const unlisted: string[] = [];
  const lacking: Lacking[] = [];
  const unseen: Lacking[] = [];
  for (const namespace of places) {
    const found = await lackingIn(cluster, namespace);
    const isUnlisted = listed.every((right) =>
      found.some((each) => each.right === right && each.verbs.includes("list")),
    );
    if (isUnlisted && namespace !== "") {
      unlisted.push(namespace);
      unseen.push(...found);
    } else lacking.push(...found);
  }
  const none = { code: "not_listed", message: say("kubernetes.not_listed", { namespaces: unlisted }) };
  return {
    warnings: [...(unlisted.length === 0 ? [] : [none]), ...neededRights.flatMap((right) => warningOf(right, lacking))],
    lacking: namespaces.length === 0 ? lacking : [...lacking, ...unseen],
    is_cluster_wide: places.includes(""),
  };
}

/** Everything, in the whole cluster. */
export const lackingAll: readonly Lacking[] = neededRights.map((right) => ({
  right,
  verbs: right.verbs,
  namespace: "",
}));

/** The kinds of workload. */
const listed = neededRights.filter(({ group }) => group !== "");

/** Where Helm may store releases. */
const storages = ["secrets", "configmaps"].map((resource) => ({ group: "", resource }));

/** The namespaces in which no release can be listed, of this many queried; blank for the whole cluster. */
export async function namespacesWithoutReleases(
  cluster: Cluster,
  namespaces: readonly string[],
): Promise<{ asked: number; unlisted: readonly string[] }> {
  const places = await placesToAsk(cluster, namespaces, storages).catch((error: unknown) => {
    // Then the cluster as a whole is what cannot be listed.
    if (error instanceof PluginError && error.code === "unauthorized") return [""];
    throw error;
  });
  const unlisted: string[] = [];
  for (const namespace of places) {
    const verdicts = await Promise.all(storages.map((each) => isAllowed(cluster, each, "list", namespace)));
    if (!verdicts.includes(true)) unlisted.push(namespace);
  }
  return { asked: places.length, unlisted };
}

type Resource = Pick<Right, "group" | "resource">;

/** `namespaces`, or for none the whole cluster; else, if none of these can be listed there, all that it has. */
async function placesToAsk(
  cluster: Cluster,
  namespaces: readonly string[],
  resources: readonly Resource[],
): Promise<readonly string[]> {
  if (namespaces.length > 0) return namespaces;
  const everywhere = await Promise.all(resources.map((each) => isAllowed(cluster, each, "list", "")));
  return everywhere.includes(true) ? [""] : await allNamespaces(cluster);
}

async function lackingIn(cluster: Cluster, namespace: string): Promise<readonly Lacking[]> {
  const found = await Promise.all(
    neededRights.map(async (right) => {
      const verdicts = await Promise.all(right.verbs.map((verb) => isAllowed(cluster, right, verb, namespace)));
      return { right, namespace, verbs: right.verbs.filter((_, at) => verdicts[at] === false) };
    }),
  );
  return found.filter(({ verbs }) => verbs.length > 0);
}

async function isAllowed(
  cluster: Cluster,
  { group, resource }: Resource,
  verb: string,
  namespace: string,
): Promise<boolean> {
  const [name = "", subresource = ""] = resource.split("/");
  const resourceAttributes = { group, resource: name, subresource, verb, namespace };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } };
  const { status } = await cluster.send(
    ({ authorization }) => authorization.createSelfSubjectAccessReview(body),
    Access,
  );
  return status.allowed;
}

function warningOf(right: Right, lacking: readonly Lacking[]): readonly Refusal[] {
  const own = lacking.filter((each) => each.right === right);
  if (own.length === 0) return [];
  const { resource, is_needed } = right;
  const verbs = [...new Set(own.flatMap((each) => each.verbs))];
  const namespaces = own.map((each) => each.namespace).filter((name) => name !== "");
  return [
    {
      code: is_needed ? "missing_right" : "missing_explanation",
      message: say("kubernetes.missing_right", { verbs, resource, namespaces, is_needed }),
    },
  ];
}
