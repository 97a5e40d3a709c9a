import { type Message, plain, say } from "../../messages/message.ts";
import type { ContainerStatus, Pod } from "./objects.ts";
import { containersIn, type Found } from "./workloads.ts";

/** Whether a pod has the images of the workload's present template. */
export function isUpToDate(pod: Pod, { template }: Found): boolean {
  const running = new Map(containersIn(pod).map(({ name, image }) => [name, image]));
  return containersIn(template).every(({ name, image }) => running.get(name) === image);
}

export function isReady({ status, metadata }: Pod): boolean {
  const condition = status.conditions.find(({ type }) => type === "Ready");
  return condition?.status === "True" && metadata.deletionTimestamp === "";
}

/** Why a pod is not ready; null if it is, or if it just takes its time. */
export function whyNotReady(pod: Pod): Message | null {
  if (isReady(pod) || pod.metadata.deletionTimestamp !== "") return null;
  const { status } = pod;
  const scheduled = status.conditions.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False") return say("kubernetes.unschedulable", { said: plain(scheduled.message) });
  for (const container of [...status.initContainerStatuses, ...status.containerStatuses]) {
    const why = whyContainerWaits(container);
    if (why !== null) return why;
  }
  return null;
}

/** Reasons that are no fault. */
const starting = new Set(["ContainerCreating", "PodInitializing", ""]);

function whyContainerWaits({ name, image, state, lastState, ready, restartCount }: ContainerStatus): Message | null {
  const ended = state?.terminated ?? lastState?.terminated ?? null;
  if (state?.waiting != null && !starting.has(state.waiting.reason)) {
    const { reason, message } = state.waiting;
    if (reason === "CrashLoopBackOff") {
      const exit = ended === null ? null : { exit_code: ended.exitCode, reason: ended.reason };
      return say("kubernetes.crash_loop", {
        container: name,
        restarts: restartCount,
        exit_code: exit?.exit_code ?? null,
        reason: exit?.reason ?? "",
      });
    }
    if (reason === "ImagePullBackOff" || reason === "ErrImagePull" || reason === "InvalidImageName") {
      return say("kubernetes.image_not_pulled", { container: name, image, said: plain(message) });
    }
    return say("kubernetes.container_waits", { container: name, reason: plain(reason), said: plain(message) });
  }
  if (state?.terminated != null && state.terminated.exitCode !== 0) {
    const { exitCode, reason } = state.terminated;
    if (restartCount > 0) {
      return say("kubernetes.crash_loop", { container: name, restarts: restartCount, exit_code: exitCode, reason });
    }
    return say("kubernetes.container_ended", { container: name, exit_code: exitCode, reason: plain(reason) });
  }
  if (state?.running == null || ready) return null;
  // Between two crashes it runs for a moment.
  if (ended === null || restartCount === 0) return say("kubernetes.not_ready", { container: name });
  const { exitCode: exit_code, reason } = ended;
  return say("kubernetes.crash_loop", { container: name, restarts: restartCount, exit_code, reason });
}

/** A container that ended badly or is not ready. */
export interface FailingContainer {
  pod: Pod;
  container: string;
  restarts: number;
  /** Whether its last words were written before its last restart. */
  is_previous: boolean;
  /** It ended; otherwise it runs and is not ready. */
  has_crashed: boolean;
}

/** Each container that fails in any of these pods, in the pod where it was restarted most often. */
export function failingContainers(pods: readonly Pod[]): readonly FailingContainer[] {
  const found = new Map<string, FailingContainer>();
  for (const pod of pods) {
    if (isReady(pod) || pod.metadata.deletionTimestamp !== "") continue;
    const { initContainerStatuses, containerStatuses } = pod.status;
    for (const status of [...initContainerStatuses, ...containerStatuses]) {
      const failing = failureOf(pod, status, initContainerStatuses.includes(status));
      const known = found.get(status.name);
      if (failing !== null && failing.restarts >= (known?.restarts ?? 0)) found.set(status.name, failing);
    }
  }
  return [...found.values()];
}

function failureOf(pod: Pod, status: ContainerStatus, isInit: boolean): FailingContainer | null {
  const { name: container, restartCount: restarts, state, lastState, ready } = status;
  const failing = { pod, container, restarts };
  if (state?.terminated != null) {
    const isDone = isInit && state.terminated.exitCode === 0;
    return isDone ? null : { ...failing, is_previous: false, has_crashed: true };
  }
  if (lastState?.terminated != null && !ready) return { ...failing, is_previous: true, has_crashed: true };
  return state?.running != null && !ready ? { ...failing, is_previous: false, has_crashed: false } : null;
}

/** The reasons that pods have, the most frequent first; each with how many pods have it. */
export function reasonsOf(pods: readonly Pod[]): readonly { why: Message; pods: number }[] {
  const byText = new Map<string, { why: Message; pods: number }>();
  for (const pod of pods) {
    const why = whyNotReady(pod);
    if (why === null) continue;
    const key = JSON.stringify(why);
    byText.set(key, { why, pods: (byText.get(key)?.pods ?? 0) + 1 });
  }
  return [...byText.values()].toSorted((a, b) => b.pods - a.pods);
}

/** The registry's digest in a status's `imageID`; null for an image that was never pulled. */
export function digestOf(imageID: string): string | null {
  return /@(sha256:[0-9a-f]{64})$/.exec(imageID)?.[1] ?? null;
}

/** A selector as the API takes it in a query. */
export function selectorText({ selector }: Pick<Found, "selector">): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values }) => {
    if (operator === "Exists") return key;
    if (operator === "DoesNotExist") return `!${key}`;
    return `${key} ${operator === "In" ? "in" : "notin"} (${values.join(",")})`;
  });
  return [...labels, ...expressions].join(",");
}
