import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { Refusal, Target } from "../runtime.ts";
import { type Cluster, Refused } from "./client.ts";
import { Named } from "./objects.ts";
import { targetOf } from "./target.ts";
import { foundFrom, rules, type WorkloadKind, workloadKinds } from "./workloads.ts";

export interface Discovery {
  targets: readonly Target[];
  /** What could not be listed. */
  warnings: readonly Refusal[];
}

const isForbidden = (error: unknown) => error instanceof Refused && error.status === 403;

/**
 * Every workload of these namespaces, or of all that may be listed. Targets are made page by page: 5,000 workloads never are in memory
 * as Kubernetes describes them.
 */
export async function discoverWorkloads(cluster: Cluster, namespaces: readonly string[]): Promise<Discovery> {
  const targets: Target[] = [];
  const warnings: Refusal[] = [];
  let accessible: readonly string[] | null = namespaces.length === 0 ? null : namespaces;
  for (const kind of workloadKinds) {
    if (accessible === null) {
      try {
        await listInto(targets, cluster, kind, null);
        continue;
      } catch (error) {
        if (!isForbidden(error)) throw error;
        accessible = await allNamespaces(cluster);
      }
    }
    const refused: string[] = [];
    for (const namespace of accessible) {
      try {
        await listInto(targets, cluster, kind, namespace);
      } catch (error) {
        if (!isForbidden(error)) throw error;
        refused.push(namespace);
      }
    }
    if (refused.length === accessible.length && accessible.length > 0 && kind === workloadKinds[0]) {
      throw new PluginError("unauthorized", say("kubernetes.nothing_listed", { namespaces: refused }));
    }
    if (refused.length > 0) {
      const { resource } = rules[kind];
      warnings.push({ code: "not_listed", message: say("kubernetes.not_listed", { resource, namespaces: refused }) });
    }
  }
  return { targets: targets.toSorted((a, b) => (a.name < b.name ? -1 : 1)), warnings };
}

async function listInto(
  targets: Target[],
  cluster: Cluster,
  kind: WorkloadKind,
  namespace: string | null,
): Promise<void> {
  const { all, within, schema } = rules[kind];
  await cluster.list(namespace === null ? all : within(namespace), schema, (page) => {
    for (const object of page) targets.push(targetOf(foundFrom(kind, object), null));
  });
}

async function allNamespaces(cluster: Cluster): Promise<readonly string[]> {
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
