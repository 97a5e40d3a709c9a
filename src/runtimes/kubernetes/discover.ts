import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { Target } from "../target.ts";
import { type Cluster, Refused } from "./client.ts";
import { Named } from "./objects.ts";
import { targetOf } from "./target.ts";
import { foundFrom, rules, type WorkloadKind, workloadKinds } from "./workloads.ts";

/** The Helm releases of a namespace, or of all; null if they may not be listed. */
type ListReleases = (namespace: string | null) => Promise<readonly Target[] | null>;

const isForbidden = (error: unknown) => error instanceof Refused && error.status === 403;

/**
 * Every workload and release of these namespaces, or of all that may be listed; throws `unauthorized` if none may. Targets are made page by
 * page, so that 5,000 workloads are never in memory as Kubernetes describes them.
 */
export async function discoverTargets(
  cluster: Cluster,
  namespaces: readonly string[],
  releases: ListReleases | null,
): Promise<readonly Target[]> {
  const targets: Target[] = [];
  let named: readonly string[] | null = namespaces.length === 0 ? null : namespaces;
  let isListed = false;
  const list = async (kind: WorkloadKind, namespace: string | null): Promise<boolean> => {
    try {
      await listInto(targets, cluster, kind, namespace);
      isListed = true;
      return true;
    } catch (error) {
      if (isForbidden(error)) return false;
      throw error;
    }
  };
  for (const kind of workloadKinds) {
    if (named === null && (await list(kind, null))) continue;
    named ??= await allNamespaces(cluster);
    for (const namespace of named) await list(kind, namespace);
  }
  if (releases !== null) targets.push(...(await releasesOf(cluster, named, releases)));
  if (!isListed && named?.length !== 0) {
    throw new PluginError("unauthorized", say("kubernetes.nothing_listed", { namespaces }));
  }
  return targets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** `named`: null for the whole cluster. */
async function releasesOf(
  cluster: Cluster,
  named: readonly string[] | null,
  list: ListReleases,
): Promise<readonly Target[]> {
  const everywhere = named === null ? await list(null) : null;
  if (everywhere !== null) return everywhere;
  const found: Target[] = [];
  for (const namespace of named ?? (await allNamespaces(cluster).catch(noneIfRefused))) {
    found.push(...((await list(namespace)) ?? []));
  }
  return found;
}

function noneIfRefused(error: unknown): readonly string[] {
  if (error instanceof PluginError && error.code === "unauthorized") return [];
  throw error;
}

async function listInto(
  targets: Target[],
  cluster: Cluster,
  kind: WorkloadKind,
  namespace: string | null,
): Promise<void> {
  const { calls, schema } = rules[kind];
  await cluster.list(
    (api) => (namespace === null ? calls(api).all() : calls(api).within(namespace)),
    schema,
    (page) => {
      for (const object of page) targets.push(targetOf(foundFrom(kind, object), null));
    },
  );
}

/** Throws `unauthorized` if they may not be listed. */
export async function allNamespaces(cluster: Cluster): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    await cluster.list(
      ({ core }) => core.listNamespace(),
      Named,
      (page) => {
        names.push(...page.map(({ metadata }) => metadata.name));
      },
    );
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new PluginError("unauthorized", say("kubernetes.namespaces_unlisted"));
  }
  return names;
}
