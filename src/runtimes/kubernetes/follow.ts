import * as v from "valibot";
import type { Clock } from "../../clock.ts";
import { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import type { TargetRef } from "../runtime.ts";
import { type Cluster, Refused } from "./client.ts";
import { whyPodsWait } from "./explain.ts";
import { deadlinePassedAt, judgeRollout, type PodCounts } from "./rollout.ts";
import { type Found, foundFrom, hasImages, idOf, placeOf, rules } from "./workloads.ts";

/** After a watch that broke off; a server that ends every watch at once is asked no more often than this. */
const pauseMs = 500;
/** A credential that is refused for this long was withdrawn. */
const refusalMs = 15_000;
/**
 * A rollout back is noticed before it makes progress, and until then the controller still reports the deadline of the rollout before. One
 * that had passed when following began counts after this time.
 */
const lingerMs = 15_000;
/** How often pods are asked why they wait, and whether the rollout stands still. */
const tickMs = 5_000;

/** What following needs of a session. */
export interface Around {
  cluster: Cluster;
  clock: Clock;
  signal: AbortSignal;
  /** Without any progress for this long, a rollout has failed. */
  stall_ms: number;
}

interface Following {
  /** What the containers should have; another image means that somebody changed the workload. */
  images: ReadonlyMap<string, string>;
  stop: AbortSignal | undefined;
  /** `detail` has the last known reason why pods wait. */
  onProgress(counts: PodCounts, detail: Message): void;
}

type Followed = { is_done: boolean; detail: Message; counts: PodCounts };
/** With everything resolved, for the functions below. */
interface Followup extends Around {
  ref: TargetRef;
  show(found: Found, why: Message | null): void;
}

/**
 * Follows a rollout by watching the workload, until the controller reports that it is complete, gives up, or nothing has changed for too
 * long. Watches that break off, expire or are refused for a moment are resumed; only a cluster that does not answer for the whole time
 * ends it. Rejects with the signal's reason.
 */
export async function followRollout(around: Around, ref: TargetRef, options: Following): Promise<Followed> {
  const { clock, cluster, stall_ms } = around;
  const signal = options.stop === undefined ? around.signal : AbortSignal.any([around.signal, options.stop]);
  let reason: Message | null = null;
  const followup: Followup = {
    ...around,
    signal,
    ref,
    show: (found, why) => {
      const { counts, detail: said } = judgeRollout(found);
      reason = why ?? reason;
      options.onProgress(counts, reason === null ? said : say("kubernetes.because", { said, why: reason }));
    },
  };
  let progressAt = clock.elapsed();
  const best = highWater();
  let last = null as Followed | null;
  let fault = null as PluginError | null;
  let refusedAt = null as number | null;
  /** Of the first look. */
  let passedBefore = undefined as string | null | undefined;
  let lingersSince = null as number | null;
  const lingers = () => lingersSince !== null && clock.elapsed() - lingersSince < lingerMs;
  /** The verdict, or null while the rollout goes on. */
  const take = (found: Found): Followed | null => {
    const { counts, detail, state } = judgeRollout(found);
    const changed = hasImages(found, options.images) ? null : say("kubernetes.changed_meanwhile");
    last = { is_done: false, detail: changed ?? detail, counts };
    if (best.take(found)) progressAt = clock.elapsed();
    const passedAt = deadlinePassedAt(found);
    if (passedBefore === undefined) passedBefore = passedAt;
    lingersSince = state === "failed" && passedAt === passedBefore ? (lingersSince ?? clock.elapsed()) : null;
    if (changed !== null || (state === "failed" && !lingers())) return last;
    return state === "done" ? { is_done: true, detail, counts } : null;
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
      // An API server that just started refuses what it will allow in a moment.
      const isRefused = error.code === "unauthorized";
      refusedAt = isRefused ? (refusedAt ?? clock.elapsed()) : null;
      const isOver = refusedAt !== null && clock.elapsed() - refusedAt >= refusalMs;
      if (isOver || error.code === "not_found") {
        return { is_done: false, detail: error.said, counts: last?.counts ?? noPods };
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
      });
    }
    await clock.sleep(pauseMs, signal);
  }

  function isStalled(): boolean {
    return clock.elapsed() - progressAt >= stall_ms;
  }
}

/** Whether the rollout is further than ever: a container that starts and crashes by turns makes no progress. */
function highWater() {
  let generation = -1;
  let best: PodCounts = noPods;
  return {
    take: (found: Found): boolean => {
      const { counts } = judgeRollout(found);
      const { updated, available, old } = counts;
      const isNew = found.metadata.generation !== generation;
      const isFurther = isNew || updated > best.updated || available > best.available || old < best.old;
      generation = found.metadata.generation;
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
  const { cluster, ref, clock, signal, show } = followup;
  const kind = kindOf(ref);
  const { namespace, name } = placeOf(ref);
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  let latest = from;
  // Nobody waits for it: the answer about the pods may take longer than the verdict.
  void (async () => {
    for (;;) {
      const why = await whyPodsWait(cluster, latest);
      if (stop.aborted) return;
      show(latest, why);
      if (isDue()) return over.abort();
      await clock.sleep(tickMs, stop);
    }
  })().catch(() => over.abort());
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
        return { is_done: false, detail: say("kubernetes.deleted_meanwhile"), counts: judgeRollout(latest).counts };
      }
      latest = seen;
      show(latest, null);
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

/** From the present on, if the API server no longer knows what happened since this version: it was restarted, or forgot. */
async function* eventsSince(cluster: Cluster, ...[compose, version, stop]: Parameters<Cluster["watch"]>) {
  try {
    yield* cluster.watch(compose, version, stop);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 410)) throw error;
    yield* cluster.watch(compose, "", stop);
  }
}

/** A failure says why pods wait, if the cluster tells. */
async function explained({ cluster, ref }: Followup, verdict: Followed): Promise<Followed> {
  if (verdict.is_done) return verdict;
  try {
    const why = await whyPodsWait(cluster, await readWorkload(cluster, ref));
    return why === null ? verdict : { ...verdict, detail: say("kubernetes.because", { said: verdict.detail, why }) };
  } catch (error) {
    if (error instanceof PluginError) return verdict;
    throw error;
  }
}
