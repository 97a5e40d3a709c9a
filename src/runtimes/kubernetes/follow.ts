import * as v from "valibot";
import type { Clock } from "../../clock.ts";
import { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import type { RolloutProgress } from "../journal.ts";
import type { LastLog } from "../logs.ts";
import type { TargetRef } from "../target.ts";
import { type Cluster, Refused } from "./client.ts";
import { lookAtPods, type PodsSeen } from "./explain.ts";
import type { LogReader } from "./logs.ts";
import { deadlinePassedAt, judgeRollout, type PodCounts, whyKept } from "./rollout.ts";
import { progressOf } from "./rollout-progress.ts";
import { type Found, foundFrom, hasImages, idOf, placeOf, rules, stateOf } from "./workloads.ts";

/** After a watch that broke off; a server that ends every watch at once is queried no more often than this. */
const pauseMs = 500;
/** A credential that is refused for this long was withdrawn. */
const refusalMs = 15_000;
/**
 * The controller takes a moment to notice a rollback, and until then still reports the deadline of the previous rollout. A deadline that
 * had passed when following began counts only after this time.
 */
const lingerMs = 15_000;
/** How often the reasons of waiting pods are read, and the rollout is checked for a stall. */
const tickMs = 5_000;
/** After a change of the workload they are read sooner, but never more often than this. */
const lookPauseMs = 1_000;
/** Many pods take long to list: at most a fifth of the time is spent on that. */
const restFactor = 4;

/** What following needs of a session. */
export interface Around {
  cluster: Cluster;
  logs: LogReader;
  clock: Clock;
  signal: AbortSignal;
  /** Without any progress for this long, a rollout has failed. */
  stall_ms: number;
}

interface Following {
  /**
   * The images that the containers should have; another image means that somebody changed the workload. Empty for a workload of a release,
   * whose images Helm sets. Its own strategy may leave its pods to others; a workload of our own with such a strategy was changed
   * meanwhile, because it is refused otherwise.
   */
  images: ReadonlyMap<string, string>;
  stop: AbortSignal | undefined;
  /** `detail` has the last known reason why pods wait; `rollout` is null until they were listed. */
  onProgress(counts: PodCounts, detail: Message, rollout: RolloutProgress | null): void;
  /** Receives the last lines of containers that crashed since it was called before. */
  onCrash?: ((logs: readonly LastLog[]) => void) | undefined;
}

/** `rollout`: for a failure, the state of each pod; null if that cannot be read. */
type Followed = { is_done: boolean; detail: Message; counts: PodCounts; rollout: RolloutProgress | null };
/** With everything resolved, for the functions below. */
interface Followup extends Around, Pick<Following, "onCrash"> {
  ref: TargetRef;
  /** `seen`: null if only the workload was read. */
  show(found: Found, seen: PodsSeen | null): void;
}

/**
 * Follows a rollout by watching the workload, until the controller reports that it is complete, gives up, or nothing has changed for too
 * long. Watches that break off, expire or are refused for a moment are resumed; only a cluster that does not respond for the whole time
 * ends it. Rejects with the signal's reason.
 */
export async function followRollout(around: Around, ref: TargetRef, options: Following): Promise<Followed> {
  const { clock, cluster, stall_ms } = around;
  const signal = options.stop === undefined ? around.signal : AbortSignal.any([around.signal, options.stop]);
  let reason: Message | null = null;
  let lastSeen: PodsSeen = { pods: null, why: null };
  const followup: Followup = {
    ...around,
    signal,
    ref,
    onCrash: options.onCrash,
    show: (found, seen) => {
      const { counts, detail: said } = judgeRollout(found);
      reason = seen?.why ?? reason;
      lastSeen = seen ?? lastSeen;
      const detail = reason === null ? said : say("kubernetes.because", { said, why: reason });
      options.onProgress(counts, detail, rolloutOf(found, lastSeen));
    },
  };
  let progressAt = clock.elapsed();
  const best = highWater();
  let last = null as Followed | null;
  let fault = null as PluginError | null;
  let refusedAt = null as number | null;
  /** Of the first reading. */
  let passedBefore = undefined as string | null | undefined;
  let lingersSince = null as number | null;
  const lingers = () => lingersSince !== null && clock.elapsed() - lingersSince < lingerMs;
  /** The verdict, or null during the rollout. */
  const take = (found: Found): Followed | null => {
    const { counts, detail, state } = judgeRollout(found);
    const changed = hasImages(found, options.images) ? null : say("kubernetes.changed_meanwhile");
    last = { is_done: false, detail: changed ?? detail, counts, rollout: null };
    if (best.take(found)) progressAt = clock.elapsed();
    const passedAt = deadlinePassedAt(found);
    if (passedBefore === undefined) passedBefore = passedAt;
    lingersSince = state === "failed" && passedAt === passedBefore ? (lingersSince ?? clock.elapsed()) : null;
    if (changed !== null || (state === "failed" && !lingers())) return last;
    if (state !== "done") return null;
    const kept = options.images.size === 0 ? null : whyKept(found);
    return { is_done: kept === null, detail: kept ?? detail, counts, rollout: null };
  };
  for (;;) {
    signal.throwIfAborted();
    try {
      const found = await readWorkload(cluster, ref);
      fault = null;
      refusedAt = null;
      const isDue = () => isStalled() || (lingersSince !== null && !lingers());
      const verdict = take(found) ?? (await watchUntil(followup, found, take, isDue));
      if (verdict !== null) return await explained(followup, verdict);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PluginError)) throw error;
      // An API server that just started refuses requests that it will allow in a moment.
      const isRefused = error.code === "unauthorized";
      refusedAt = isRefused ? (refusedAt ?? clock.elapsed()) : null;
      const isOver = refusedAt !== null && clock.elapsed() - refusedAt >= refusalMs;
      if (isOver || error.code === "not_found") {
        return { is_done: false, detail: error.said, counts: last?.counts ?? noPods, rollout: null };
      }
      fault = error;
    }
    if (isStalled()) {
      const seconds = Math.round(stall_ms / 1000);
      const detail: Message = fault?.said ?? last?.detail ?? say("kubernetes.not_observed");
      return await explained(followup, {
        is_done: false,
        detail: say("kubernetes.stalled", { seconds, cause: detail }),
        counts: last?.counts ?? noPods,
        rollout: null,
      });
    }
    await clock.sleep(pauseMs, signal);
  }

  function isStalled(): boolean {
    return clock.elapsed() - progressAt >= stall_ms;
  }
}

/** Whether the rollout is further than ever: a container that starts and crashes by turns makes no progress, nor does an autoscaler. */
function highWater() {
  let template = "";
  let best: PodCounts = noPods;
  return {
    take: (found: Found): boolean => {
      const { counts } = judgeRollout(found);
      const { updated, available, old } = counts;
      const present = stateOf(found);
      const isNew = present !== template;
      const isFurther = isNew || updated > best.updated || available > best.available || old < best.old;
      template = present;
      best = isNew
        ? counts
        : {
            ...counts,
            updated: Math.max(updated, best.updated),
            available: Math.max(available, best.available),
            old: Math.min(old, best.old),
          };
      return isFurther;
    },
  };
}

const noPods: PodCounts = { desired: 0, updated: 0, ready: 0, available: 0, old: 0 };

export async function readWorkload(cluster: Cluster, ref: TargetRef): Promise<Found> {
  const kind = kindOf(ref);
  const { namespace, name } = placeOf(ref);
  return foundFrom(kind, await cluster.send((api) => rules[kind].calls(api).read(name, namespace), rules[kind].schema));
}

/** The same, or null if it is gone. */
export async function findWorkload(cluster: Cluster, ref: TargetRef): Promise<Found | null> {
  try {
    return await readWorkload(cluster, ref);
  } catch (error) {
    if (error instanceof PluginError && error.code === "not_found") return null;
    throw error;
  }
}

export function kindOf({ kind }: TargetRef): Found["kind"] {
  if (kind in rules) return kind as Found["kind"];
  throw new PluginError("not_found", say("kubernetes.unknown_kind", { kind }));
}

/** Null when the watch ended, or when it is time for another look. */
async function watchUntil(
  followup: Followup,
  from: Found,
  take: (found: Found) => Followed | null,
  isDue: () => boolean,
): Promise<Followed | null> {
  const { cluster, ref, signal, show } = followup;
  const kind = kindOf(ref);
  const { namespace, name } = placeOf(ref);
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  let latest = from;
  let changed = Promise.withResolvers<void>();
  // Not awaited: listing the pods may take longer than the verdict.
  void watchPods(followup, {
    stop,
    latest: () => latest,
    changed: () => {
      changed = Promise.withResolvers();
      return changed.promise;
    },
    isDue,
  })
    .catch(() => undefined)
    .finally(() => over.abort());
  try {
    const compose: Parameters<Cluster["watch"]>[0] = async (api) => {
      const request = await rules[kind].calls(api).within(namespace);
      request.setQueryParam("fieldSelector", `metadata.name=${name}`);
      return request;
    };
    for await (const { type, object } of eventsSince(cluster, compose, from.metadata.resourceVersion, stop)) {
      const parsed = v.safeParse(rules[kind].schema, object);
      if (!parsed.success) throw new PluginError("malformed", say("kubernetes.watch_unreadable"));
      const seen = foundFrom(kind, parsed.output);
      if (idOf(seen.metadata) !== ref.id) continue;
      if (type === "DELETED") {
        const { counts } = judgeRollout(latest);
        return { is_done: false, detail: say("kubernetes.deleted_meanwhile"), counts, rollout: null };
      }
      latest = seen;
      show(latest, null);
      changed.resolve();
      const verdict = take(latest);
      if (verdict !== null) return verdict;
    }
    return null;
  } catch (error) {
    if (over.signal.aborted) return null;
    throw error;
  } finally {
    over.abort();
  }
}

interface PodWatch {
  stop: AbortSignal;
  latest(): Found;
  /** Resolves with the next change of the workload. */
  changed(): Promise<void>;
  /** Whether it stands still for too long. */
  isDue(): boolean;
}

/** Shows the pods of the workload after its changes and from time to time, until that is due to end. */
async function watchPods(followup: Followup, { stop, latest, changed, isDue }: PodWatch): Promise<void> {
  const { cluster, clock, logs, show, onCrash } = followup;
  while (!stop.aborted) {
    const isChanged = changed();
    const began = clock.elapsed();
    const found = latest();
    const seen = await lookAtPods(cluster, found);
    if (stop.aborted) return;
    show(latest(), seen);
    if (onCrash !== undefined && seen.pods !== null) {
      const written = await logs.ofNewCrashes(found, seen.pods);
      if (written.length > 0 && !stop.aborted) onCrash(written);
    }
    if (isDue()) return;
    const rest = Math.max(lookPauseMs, restFactor * (clock.elapsed() - began));
    await clock.sleep(rest, stop);
    await Promise.race([isChanged, clock.sleep(Math.max(0, tickMs - rest), stop)]);
  }
}

/** From the present on, if the API server no longer knows what happened since this version: it was restarted, or forgot. */
async function* eventsSince(cluster: Cluster, ...[compose, version, stop]: Parameters<Cluster["watch"]>) {
  try {
    yield* cluster.watch(compose, version, stop);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 410)) throw error;
    yield* cluster.watch(compose, "", stop);
  }
}

/** Null if pods may not be listed, or the workload has none to replace. */
function rolloutOf(found: Found, { pods, why }: PodsSeen): RolloutProgress | null {
  return pods === null || found.workload === null ? null : progressOf(found, pods, why);
}

/** A failure says why pods wait and the state of each, if the cluster reports it. */
async function explained({ cluster, ref }: Followup, verdict: Followed): Promise<Followed> {
  if (verdict.is_done) return verdict;
  try {
    const found = await readWorkload(cluster, ref);
    const seen = await lookAtPods(cluster, found);
    const { why } = seen;
    const detail = why === null ? verdict.detail : say("kubernetes.because", { said: verdict.detail, why });
    return { ...verdict, detail, rollout: rolloutOf(found, seen) };
  } catch (error) {
    if (error instanceof PluginError) return verdict;
    throw error;
  }
}
