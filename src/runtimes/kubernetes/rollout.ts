import { type Message, plain, say } from "../../messages/message.ts";
import type { Workload } from "./objects.ts";
import { type Found, rules } from "./workloads.ts";

/** Pods of a rollout. `desired`: of the new revision; a partition keeps the others on the old one. */
export interface PodCounts {
  desired: number;
  updated: number;
  ready: number;
  available: number;
  /** Of an earlier revision. */
  old: number;
}

export interface Rollout {
  /** `failed`: the controller has given up; waiting will not help. */
  state: "done" | "waiting" | "failed";
  counts: PodCounts;
  detail: Message;
}

const none: PodCounts = { desired: 0, updated: 0, ready: 0, available: 0, old: 0 };

/** Judges the present state by the controller's own report, as soon as that is about the present generation. */
export function judgeRollout(found: Found): Rollout {
  const { kind, metadata, workload, is_suspended } = found;
  if (workload === null) {
    return {
      state: "done",
      counts: none,
      detail: say(is_suspended ? "kubernetes.cronjob_suspended" : "kubernetes.cronjob_set"),
    };
  }
  const counts = kind === "daemonset" ? countsOfDaemons(workload) : countsOfReplicas(workload, partitionOf(workload));
  const { status } = workload;
  if (status.observedGeneration < metadata.generation) {
    return { state: "waiting", counts, detail: say("kubernetes.not_observed") };
  }
  const passed = deadlinePassed(found);
  if (passed !== undefined) {
    return {
      state: "failed",
      counts,
      detail: say("kubernetes.deadline_exceeded", { said: plain(passed.message.replace(/\.$/, "")) }),
    };
  }
  if (isOnDelete(found))
    return { state: "done", counts, detail: say("kubernetes.on_delete", { kind: rules[kind].title }) };
  const { desired, updated, ready, available, old } = counts;
  const isDone = updated >= desired && ready >= desired && available >= desired && isSettled(kind, workload, old);
  if (!isDone) {
    const detail = workload.spec.paused ? say("kubernetes.paused") : say("kubernetes.rolling", { ...counts });
    return { state: "waiting", counts, detail };
  }
  return {
    state: "done",
    counts,
    detail: desired === 0 ? say("kubernetes.no_pods") : say("kubernetes.rolled_out", { ...counts }),
  };
}

/** When the Deployment's progress deadline passed; null if it did not. */
export function deadlinePassedAt(found: Found): string | null {
  return deadlinePassed(found)?.lastUpdateTime ?? null;
}

function deadlinePassed({ kind, workload }: Found) {
  if (kind !== "deployment") return undefined;
  const progress = workload?.status.conditions.find(({ type }) => type === "Progressing");
  return progress?.reason === "ProgressDeadlineExceeded" ? progress : undefined;
}

/** Its pods are replaced when somebody deletes them; nothing else is to be waited for. */
export function isOnDelete({ workload }: Found): boolean {
  return workload?.spec.updateStrategy?.type === "OnDelete";
}

/** Whether a partition leaves no pod to replace. */
export function keepsAll({ workload }: Found): boolean {
  return workload !== null && workload.spec.replicas > 0 && partitionOf(workload) >= workload.spec.replicas;
}

/** Why the controller leaves pods on an earlier revision, complete as its rollout is; null if it leaves none, or only some. */
export function whyKept(found: Found): Message | null {
  const { kind, workload } = found;
  if (workload === null) return null;
  if (keepsAll(found)) {
    const isMoved = workload.status.updatedReplicas >= workload.spec.replicas;
    return isMoved ? null : say("kubernetes.partition_keeps_all", { partition: partitionOf(workload) });
  }
  const { desired, updated } = judgeRollout(found).counts;
  return isOnDelete(found) && updated < desired ? say("kubernetes.on_delete", { kind: rules[kind].title }) : null;
}

/** No pod of an earlier revision is left, except those that a partition keeps. */
function isSettled(kind: Found["kind"], workload: Workload, old: number): boolean {
  if (kind !== "statefulset") return old === 0;
  const { currentRevision, updateRevision } = workload.status;
  return partitionOf(workload) > 0 || currentRevision === updateRevision;
}

export function partitionOf({ spec }: Workload): number {
  return spec.updateStrategy?.rollingUpdate?.partition ?? 0;
}

function countsOfReplicas({ spec, status }: Workload, partition: number): PodCounts {
  const { replicas } = spec;
  const { updatedReplicas: updated, readyReplicas, availableReplicas } = status;
  const kept = Math.min(partition, replicas);
  return {
    desired: replicas - kept,
    updated,
    // The status counts the kept pods too.
    ready: Math.max(readyReplicas - kept, 0),
    available: Math.max(availableReplicas - kept, 0),
    old: Math.max(status.replicas - updated - kept, 0),
  };
}

function countsOfDaemons({ status }: Workload): PodCounts {
  const { desiredNumberScheduled: desired, updatedNumberScheduled: updated, numberReady, numberAvailable } = status;
  return { desired, updated, ready: numberReady, available: numberAvailable, old: Math.max(desired - updated, 0) };
}
