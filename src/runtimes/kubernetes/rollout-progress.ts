import { type Message, says } from "../../messages/message.ts";
import type { RolloutPod, RolloutProgress } from "../journal.ts";
import type { Pod } from "./objects.ts";
import { isReady, isUpToDate, whyNotReady } from "./pods.ts";
import { judgeRollout } from "./rollout.ts";
import type { Found } from "./workloads.ts";

/** Shown one by one; more than a screen has room for. */
const shownPods = 12;
/** Under which a Deployment, or else a StatefulSet or DaemonSet, labels the pods of a revision. */
const revisionLabels = ["pod-template-hash", "controller-revision-hash"];

/** New and previous pods of a workload, as its controller counts them. */
export function progressOf(found: Found, pods: readonly Pod[], why: Message | null): RolloutProgress {
  const counted = pods.filter(({ status, metadata }) => metadata.deletionTimestamp === "" && !isOver(status.phase));
  const fresh = counted.filter((pod) => isUpToDate(pod, found));
  const old = counted.filter((pod) => !isUpToDate(pod, found));
  const { desired, available } = judgeRollout(found).counts;
  const newReady = fresh.filter(isReady).length;
  const oldReady = old.filter(isReady).length;
  // The controller counts all that have been ready for long enough; previous pods have been.
  const isAtOnce = (found.workload?.spec.minReadySeconds ?? 0) === 0;
  const newAvailable = isAtOnce ? newReady : Math.min(newReady, Math.max(0, available - oldReady));
  const listed = pods.map((pod) => shownPod(pod, found)).toSorted((a, b) => rank(a) - rank(b));
  return {
    part: "",
    desired,
    new: { name: nameOf(fresh), pods: fresh.length, ready: newReady, available: newAvailable },
    old: { name: nameOf(old), pods: old.length, ready: oldReady, available: oldReady },
    // Waiting pods have their own reasons.
    why: why !== null && says(why, "kubernetes.pods_wait") ? null : why,
    pods: listed.slice(0, shownPods),
    more_pods: Math.max(0, listed.length - shownPods),
  };
}

/** Evicted, for example: its controller has made another one in its place. */
function isOver(phase: string): boolean {
  return phase === "Failed" || phase === "Succeeded";
}

/** Of the revision that all of them have; blank for several. `web-6d4cf56db6` of a StatefulSet is `6d4cf56db6`. */
function nameOf(pods: readonly Pod[]): string {
  const [name = "", ...others] = new Set(
    pods.map(({ metadata }) => revisionLabels.map((key) => metadata.labels[key] ?? "").find((value) => value !== "")),
  );
  return others.length > 0 ? "" : name.slice(name.lastIndexOf("-") + 1);
}

function shownPod(pod: Pod, found: Found): RolloutPod {
  const { metadata, status } = pod;
  const why = whyNotReady(pod);
  const isEnding = metadata.deletionTimestamp !== "" || isOver(status.phase);
  return {
    name: metadata.name,
    is_new: isUpToDate(pod, found),
    state: isEnding ? "ending" : isReady(pod) ? "ready" : why === null ? "starting" : "failing",
    restarts: status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
    why: isEnding ? null : why,
  };
}

/** Faults first, then what is on its way; new pods before previous ones. */
function rank({ state, is_new }: RolloutPod): number {
  return ["failing", "starting", "ready", "ending"].indexOf(state) * 2 + (is_new ? 0 : 1);
}
