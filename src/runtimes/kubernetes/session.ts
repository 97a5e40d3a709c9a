import { PluginError } from "../../errors.ts";
import type { PlanDetail } from "../plan.ts";
import type { RuntimeContext } from "../runtime.ts";
import type { RuntimeSession } from "../session.ts";
import type { TargetRef } from "../target.ts";
import type { ClusterAccess } from "./access.ts";
import { type Cluster, openCluster, Refused } from "./client.ts";
import { discoverTargets } from "./discover.ts";
import { openHelm } from "./helm/program.ts";
import { discoverReleases, findReleaseProblems, releasesNotListed } from "./helm/release-discovery.ts";
import { releaseOperations } from "./helm/release-operations.ts";
import { releaseKind } from "./helm/release-target.ts";
import { logReader } from "./logs.ts";
import { Namespace, Review, Version } from "./objects.ts";
import { findMissingRights, lackingAll, type MissingRights } from "./rights.ts";
import { manifestOf } from "./role.ts";
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
  const around = { cluster, clock, signal, stall_ms: config.stall_seconds * 1000, logs: logReader(cluster) };
  const workloads = workloadOperations(around);
  const helm = openHelm({ access, clock, signal, self: context.self });
  const releases = releaseOperations(around, helm);
  const listReleases = (namespace: string | null) => discoverReleases(cluster, helm, namespace);
  const of = ({ kind }: Pick<TargetRef, "kind">): TargetOperations => (kind === releaseKind ? releases : workloads);
  const readVersion = () => cluster.send(({ version: api }) => api.getCode(), Version);

  return {
    inspect: (ref) => of(ref).inspect(ref),
    plan: (ref, changes) => of(ref).plan(ref, changes),
    prepare: (plan, auths, journal) => of(plan.ref).prepare(plan, auths, journal),
    settle: (ref, ...rest) => of(ref).settle(ref, ...rest),
    lastLogs: (ref, journal) => of(ref).lastLogs(ref, journal),
    logParts: (ref) => of(ref).logParts(ref),
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
    ping: async () => {
      await readVersion();
    },
    describe: async () => {
      const version = await readVersion();
      const identity = await ownName(cluster);
      const missing = await findMissingRights(cluster, namespaces).catch((error: unknown) => {
        throw withRemedy(error, identity, config.helm);
      });
      const releaseProblems = config.helm ? await findReleaseProblems(cluster, helm, namespaces) : [];
      const isHelmLacking = releaseProblems.some(({ code }) => code === releasesNotListed);
      return {
        version: version.gitVersion,
        api_version: `${version.major}.${version.minor}`,
        platform: version.platform,
        identity,
        warnings: [...missing.warnings, ...releaseProblems],
        remedy: remedyOf(missing, identity, namespaces, isHelmLacking),
      };
    },
    identify: () => ownId(cluster),
    discover: () => discoverTargets(cluster, namespaces, config.helm ? listReleases : null),
    [Symbol.asyncDispose]: async () => cluster.close(),
  };
}

/** For the namespaces where something is missing, never for more than the connection is about. */
function remedyOf(
  { lacking, is_cluster_wide }: MissingRights,
  identity: string | null,
  named: readonly string[],
  isHelmLacking: boolean,
): string | null {
  const isHelmOffered = isHelmLacking && (is_cluster_wide || named.length > 0);
  if (lacking.length === 0 && !isHelmOffered) return null;
  const missing = [...new Set(lacking.map(({ namespace }) => namespace))].filter((name) => name !== "");
  const namespaces = missing.length === 0 ? named : missing;
  return manifestOf({ namespaces, identity, lacking, is_helm_lacking: isHelmLacking });
}

/** A credential that may list nothing at all lacks everything. */
function withRemedy(error: unknown, identity: string | null, isHelmLacking: boolean): unknown {
  if (!(error instanceof PluginError) || error.code !== "unauthorized") return error;
  const remedy = manifestOf({ namespaces: [], identity, lacking: lackingAll, is_helm_lacking: isHelmLacking });
  return new PluginError(error.code, error.said, { remedy, cause: error });
}

/** A cluster has no ID; this namespace is as old as the cluster, and nobody can delete it. Null if we may not read it. */
async function ownId(cluster: Cluster): Promise<string | null> {
  try {
    const { metadata } = await cluster.send(({ core }) => core.readNamespace("kube-system"), Namespace);
    return metadata.uid === "" ? null : metadata.uid;
  } catch (error) {
    if (error instanceof Refused && error.status !== 401) return null;
    throw error;
  }
}

/** The account that the API server authenticates us as; null before version 1.28, which does not report it. */
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
