import type { PlanDetail, RuntimeContext, RuntimeSession, TargetRef } from "../runtime.ts";
import type { ClusterAccess } from "./access.ts";
import { type Cluster, openCluster, Refused } from "./client.ts";
import { discoverTargets } from "./discover.ts";
import { openHelm } from "./helm/program.ts";
import { discoverReleases, findReleaseProblems } from "./helm/release-discovery.ts";
import { releaseOperations } from "./helm/release-operations.ts";
import { releaseKind } from "./helm/release-target.ts";
import { Review, Version } from "./objects.ts";
import { findMissingRights } from "./rights.ts";
import { type Config, namespacesIn } from "./schema.ts";
import { type TargetOperations, workloadOperations } from "./workload-operations.ts";

export function openSession(
  access: ClusterAccess,
  config: Config,
  context: RuntimeContext,
): RuntimeSession<PlanDetail> {
  const { clock, signal } = context;
  const cluster = openCluster(access, { clock, signal });
  const namespaces = namespacesIn(config.namespaces);
  const around = { cluster, clock, signal, stall_ms: config.stall_seconds * 1000 };
  const workloads = workloadOperations(around);
  const helm = openHelm({ access, clock, signal, self: context.self });
  const releases = releaseOperations(around, helm);
  const listReleases = (namespace: string | null) => discoverReleases(cluster, helm, namespace);
  const of = ({ kind }: Pick<TargetRef, "kind">): TargetOperations => (kind === releaseKind ? releases : workloads);

  return {
    inspect: (ref) => of(ref).inspect(ref),
    plan: (ref, changes) => of(ref).plan(ref, changes),
    prepare: (plan, auths, journal) => of(plan.ref).prepare(plan, auths, journal),
    settle: (ref, ...rest) => of(ref).settle(ref, ...rest),
    snapshots: {
      capture: (ref) => of(ref).snapshots.capture(ref),
      planRestore: (ref, ...rest) => of(ref).snapshots.planRestore(ref, ...rest),
      prepareRestore: (plan, ...rest) => of(plan.ref).snapshots.prepareRestore(plan, ...rest),
    },
    undo: (ref, ...rest) => of(ref).undo(ref, ...rest),
    finish: async () => undefined,
    recover: (ref, ...rest) => of(ref).recover(ref, ...rest),
    readiness: (ref, ...rest) => of(ref).readiness(ref, ...rest),
    findEnd: (ref, ...rest) => of(ref).findEnd(ref, ...rest),
    standing: (ref, ...rest) => of(ref).standing(ref, ...rest),
    describe: async () => {
      const version = await cluster.send(({ version: api }) => api.getCode(), Version);
      return {
        version: version.gitVersion,
        api_version: `${version.major}.${version.minor}`,
        platform: version.platform,
        identity: await ownName(cluster),
        warnings: [
          ...(await findMissingRights(cluster, namespaces)),
          ...(config.helm ? await findReleaseProblems(cluster, helm, namespaces) : []),
        ],
      };
    },
    discover: () => discoverTargets(cluster, namespaces, config.helm ? listReleases : null),
    [Symbol.asyncDispose]: async () => cluster.close(),
  };
}

/** Whom the API server takes us for; null for one older than 1.28, which does not tell. */
async function ownName(cluster: Cluster): Promise<string | null> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  try {
    const review = await cluster.send(({ authentication }) => authentication.createSelfSubjectReview(body), Review);
    return review.status.userInfo.username;
  } catch (error) {
    if (error instanceof Refused && error.status !== 401) return null;
    throw error;
  }
}
