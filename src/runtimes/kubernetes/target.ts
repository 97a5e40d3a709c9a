import { type Message, say } from "../../messages/message.ts";
import { type ImageArtifact, type Refusal, type Target, type TargetService, untoldSettings } from "../target.ts";
import type { Pod } from "./objects.ts";
import { ownerOf } from "./owners.ts";
import { digestOf, isReady } from "./pods.ts";
import { isOnDelete, judgeRollout, keepsAll, partitionOf } from "./rollout.ts";
import { containersIn, type Found, idOf, rules } from "./workloads.ts";

/** Pods run what the nodes have; what a new image must match is not said by any object that we may read. */
const platform = "linux/amd64";

/** `pods`: null if they were not requested; then digests are unknown. */
export function targetOf(found: Found, pods: readonly Pod[] | null): Target {
  const { kind, metadata } = found;
  const id = idOf(metadata);
  const state = stateOfPods(found);
  const owner = ownerOf(metadata);
  const condition = conditionOf(found);
  const shortfall = shortfallOf(found);
  return {
    ref: { kind, id },
    name: id,
    namespace: metadata.namespace,
    ...(owner === null ? {} : { owner }),
    ...(condition === null ? {} : { condition }),
    ...(shortfall === null ? {} : { shortfall }),
    services: containersIn(found.template).map(({ name, image }): TargetService => {
      return { name, containers: [], artifact: artifactOf(found, name, image, pods ?? []), state };
    }),
    refusals: refusalsOf(found),
    warnings: warningsOf(found, owner),
    labels: { ...metadata.labels, "kubernetes/kind": rules[kind].title },
  };
}

/**
 * What ready pods run: until all of them have the template's image, the one that the others still have; without any, the template's. The
 * digest is known if they agree on it.
 */
function artifactOf(found: Found, container: string, wanted: string, pods: readonly Pod[]): ImageArtifact {
  const reference = servingImage(found, container, wanted, pods);
  const digests = new Set<string | null>();
  for (const pod of pods.filter(isReady)) {
    const all = [...pod.status.containerStatuses, ...pod.status.initContainerStatuses];
    const named = containersIn(pod).find(({ name }) => name === container);
    const status = all.find(({ name }) => name === container);
    if (status !== undefined && named?.image === reference) digests.add(digestOf(status.imageID));
  }
  const [digest = null] = digests;
  const known = digests.size === 1 ? digest : null;
  const pinned = /@(sha256:[0-9a-f]{64})$/.exec(reference)?.[1] ?? null;
  return { kind: "image", reference, image_id: "", digest: pinned ?? known, platform };
}

function servingImage(found: Found, container: string, wanted: string, pods: readonly Pod[]): string {
  const { workload } = found;
  const images = pods
    .filter(isReady)
    .flatMap((pod) => containersIn(pod).flatMap(({ name, image }) => (name === container ? [image] : [])));
  const isKept = workload !== null && partitionOf(workload) > 0;
  // An admission webhook may have given pods another image than their template has.
  const isComplete = !isKept && !isOnDelete(found) && judgeRollout(found).state === "done";
  if (isComplete || (isKept && images.includes(wanted))) return wanted;
  return images.find((image) => image !== wanted) ?? wanted;
}

export function stateOfPods(found: Found): TargetService["state"] {
  const counts = countsOf(found);
  if (counts === null) return found.is_suspended ? "stopped" : "running";
  if (counts.wanted === 0) return "stopped";
  return counts.ready > 0 ? "running" : "restarting";
}

/** Null for a CronJob. */
function countsOf({ workload, kind }: Found): { ready: number; wanted: number } | null {
  if (workload === null) return null;
  const { readyReplicas, numberReady, desiredNumberScheduled } = workload.status;
  return kind === "daemonset"
    ? { ready: numberReady, wanted: desiredNumberScheduled }
    : { ready: readyReplicas, wanted: workload.spec.replicas };
}

/** Null while all pods are ready. */
function conditionOf(found: Found): Message | null {
  const counts = countsOf(found);
  if (counts === null) return say(found.is_suspended ? "kubernetes.suspended" : "kubernetes.scheduled");
  if (counts.wanted === 0) return say("kubernetes.scaled_to_zero");
  return counts.ready >= counts.wanted ? null : say("kubernetes.pods_ready", counts);
}

/** Null if all pods are ready, or none is: then the state of its services says so. */
export function shortfallOf(found: Found): Message | null {
  const counts = countsOf(found);
  if (counts === null || counts.ready === 0 || counts.ready >= counts.wanted) return null;
  return say("kubernetes.pods_short", counts);
}

function refusalsOf(found: Found): Refusal[] {
  const { kind, metadata, workload } = found;
  const refusals: Refusal[] = [];
  if (workload?.spec.paused === true) refusals.push({ code: "paused", message: say("kubernetes.paused") });
  if (isOnDelete(found)) {
    refusals.push({ code: "on_delete", message: say("kubernetes.on_delete", { kind: rules[kind].title }) });
  }
  if (keepsAll(found)) {
    const partition = workload === null ? 0 : partitionOf(workload);
    refusals.push({ code: "partition_keeps_all", message: say("kubernetes.partition_keeps_all", { partition }) });
  }
  if (metadata.deletionTimestamp !== "") refusals.push({ code: "deleted", message: say("kubernetes.being_deleted") });
  return refusals;
}

/** An owner may revert the change: an automatic update needs the administrator's acceptance. */
function warningsOf(found: Found, owner: Message | null): Refusal[] {
  const { workload } = found;
  const warnings: Refusal[] = [];
  if (owner !== null) warnings.push({ code: untoldSettings, message: say("kubernetes.owned", { owner }) });
  if (workload === null) return warnings;
  const partition = partitionOf(workload);
  if (partition > 0 && !keepsAll(found))
    warnings.push({ code: "partition", message: say("kubernetes.partition", { partition }) });
  if (workload.spec.replicas === 0 && found.kind !== "daemonset") {
    warnings.push({ code: "no_replicas", message: say("kubernetes.no_replicas") });
  }
  return warnings;
}
