import { type Message, plain, say } from "../../messages/message.ts";
import { type Cluster, Refused } from "./client.ts";
import { Event, Pod } from "./objects.ts";
import { isReady, isUpToDate, reasonsOf, selectorText, whyNotReady } from "./pods.ts";
import { type Found, rules } from "./workloads.ts";

export async function podsOf(cluster: Cluster, found: Found): Promise<readonly Pod[]> {
  const selector = selectorText(found);
  return selector === "" ? [] : await podsWith(cluster, found, selector);
}

/** The pods whose logs are those of the workload; of a CronJob, the pods of the jobs that it created. */
export async function writingPodsOf(cluster: Cluster, found: Found): Promise<readonly Pod[]> {
  if (found.kind !== "cronjob") return await podsOf(cluster, found);
  const start = `${found.metadata.name}-`;
  const isOwn = (job: string) => job.startsWith(start) && /^\d+$/.test(job.slice(start.length));
  const pods = await podsWith(cluster, found, "job-name");
  return pods.filter(({ metadata }) => isOwn(metadata.labels["job-name"] ?? ""));
}

async function podsWith(cluster: Cluster, found: Found, selector: string): Promise<readonly Pod[]> {
  const pods: Pod[] = [];
  await cluster.list(
    async ({ core }) => {
      const request = await core.listNamespacedPod(found.metadata.namespace);
      request.setQueryParam("labelSelector", selector);
      return request;
    },
    Pod,
    (page) => {
      pods.push(...page);
    },
  );
  return pods;
}

/** Pods of a workload as read at one moment. */
export interface PodsSeen {
  /** Null if the right to list them is missing. */
  pods: readonly Pod[] | null;
  /** The most frequent reason of the new pods, else why there are none; null if it is unknown or the right to list them is missing. */
  why: Message | null;
}

/** Throws for a withdrawn credential. */
export async function lookAtPods(cluster: Cluster, found: Found): Promise<PodsSeen> {
  const pods = await unlessRefused(podsOf(cluster, found));
  const fresh = pods?.filter((pod) => isUpToDate(pod, found)) ?? [];
  const [first] = reasonsOf(fresh);
  if (first !== undefined) return { pods, why: say("kubernetes.pods_wait", { pods: first.pods, why: first.why }) };
  const blocking = isOrdered(found) ? pods?.find((pod) => !isUpToDate(pod, found) && isStuck(pod)) : undefined;
  if (blocking !== undefined) {
    const why = whyNotReady(blocking);
    return { pods, why: say("kubernetes.pod_in_the_way", { pod: blocking.metadata.name, why }) };
  }
  const failure = found.workload?.status.conditions.find(
    ({ type, status }) => type === "ReplicaFailure" && status === "True",
  );
  if (failure !== undefined) return { pods, why: say("kubernetes.not_created", { said: plain(failure.message) }) };
  // A pod created since then shows that pods are no longer refused.
  const since =
    fresh
      .map(({ metadata }) => metadata.creationTimestamp)
      .toSorted()
      .at(-1) ?? "";
  return { pods, why: await unlessRefused(failedCreation(cluster, found, since)) };
}

/** Whether one pod that is not ready keeps all others from being replaced, even when the template no longer is what broke it. */
function isOrdered({ kind, workload }: Found): boolean {
  return kind === "statefulset" && workload?.spec.podManagementPolicy !== "Parallel";
}

function isStuck(pod: Pod): boolean {
  return !isReady(pod) && pod.metadata.deletionTimestamp === "";
}

async function unlessRefused<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Refused && error.status !== 401) return null;
    throw error;
  }
}

/**
 * Quotas and admission webhooks refuse pods before they exist, which only events of their creator report. Those before `since` are past.
 */
async function failedCreation(cluster: Cluster, found: Found, since: string): Promise<Message | null> {
  const failures: { at: string; message: string }[] = [];
  await cluster.list(
    async ({ core }) => {
      const request = await core.listNamespacedEvent(found.metadata.namespace);
      request.setQueryParam("fieldSelector", "reason=FailedCreate");
      return request;
    },
    Event,
    (page) => {
      for (const { involvedObject, message, lastTimestamp, eventTime } of page) {
        const at = lastTimestamp || eventTime;
        if (at >= since && createsPodsOf(found, involvedObject)) failures.push({ at, message });
      }
    },
  );
  const last = failures.toSorted((a, b) => (a.at < b.at ? -1 : 1)).at(-1);
  return last === undefined ? null : say("kubernetes.not_created", { said: plain(last.message) });
}

/** A Deployment's pods are created by its ReplicaSets, whose names end with a hash without a dash. */
function createsPodsOf({ kind, metadata }: Found, creator: { kind: string; name: string }): boolean {
  if (kind !== "deployment") return creator.kind === rules[kind].title && creator.name === metadata.name;
  const hash = creator.name.startsWith(`${metadata.name}-`) ? creator.name.slice(metadata.name.length + 1) : "";
  return creator.kind === "ReplicaSet" && /^[a-z0-9]+$/.test(hash);
}
