import * as v from "valibot";
import type { Reader, Writer } from "../db/client.ts";
import { newId } from "../ids.ts";
import type { ServiceObservation } from "./observation-schema.ts";
import { PlannedServiceView } from "./plan-schema.ts";
import {
  completedRuns,
  lastChangingRun,
  lastSeenVersions,
  type RunOfVersion,
  type SeenVersionRow,
  seenVersionsOf,
  seenVersionsUnder,
  seenVersionWrites,
  trimSeenVersions,
} from "./version-queries.ts";
import type { VersionCause, VersionSpanUnderTracker, VersionSpanView } from "./version-schema.ts";

/** Stored for each service; a service that changes every day reaches back this many days. */
const keptOfService = 50;
/** Shown; more than a page can hold. */
const maxShown = 200;
/** From before versions were stored. */
const maxSeeded = 20;

const Planned = v.object({ services: v.array(PlannedServiceView) });

/** What a service runs; null if the target has no such service. */
type Seen = Pick<SeenVersionRow, "reference" | "digest" | "tag">;

type SeenService = Pick<ServiceObservation, "service" | "found">;

function seenIn({ found }: SeenService): Seen {
  return { reference: found?.image ?? null, digest: found?.digest ?? null, tag: found?.tag ?? null };
}

/** Digests decide where both are known: another name for the same content is no other version. */
function isSame(a: Seen, b: Seen): boolean {
  if (a.digest !== null && b.digest !== null) return a.digest === b.digest;
  return a.reference === b.reference && (a.tag === null || b.tag === null || a.tag === b.tag);
}

function plannedIn({ plan }: RunOfVersion) {
  const parsed = v.safeParse(Planned, plan);
  return parsed.success ? parsed.output.services : [];
}

interface Cause {
  cause: VersionCause;
  run_id: string | null;
  from_at: number;
}

/** A run that saw what it left has stored that at its end: what differs later came after it. */
function hasStored({ ended_at, serving }: RunOfVersion): boolean {
  return ended_at !== null && (serving === "desired" || serving === "previous" || serving === "mixed");
}

/** Why another version runs than at the look before: by the run since then, if it brought exactly this one. */
function causeOf(seen: Seen, service: string, run: RunOfVersion | null, { before, now }: SeenAt): Cause {
  const outside: Cause = { cause: "outside", run_id: null, from_at: now };
  if (run === null || (run.ended_at !== null && before !== null && run.ended_at < before)) return outside;
  const planned = plannedIn(run).find((each) => each.service === service);
  if (planned === undefined) return outside;
  const by = { run_id: run.id, from_at: Math.min(run.ended_at ?? now, now) };
  if (isSame(seen, { ...planned.to, tag: null }))
    return { cause: run.kind === "rollback" ? "rolled_back" : "run", ...by };
  return isSame(seen, { ...planned.from, tag: null }) ? { cause: "rolled_back", ...by } : outside;
}

interface SeenAt {
  by: "look" | "end_of_run";
  /** When the target was seen before; null if never. */
  before: number | null;
  now: number;
}

/**
 * Stores what each service runs, if it differs from the last stored version. Call it in the transaction of what saw it: an evaluation,
 * which holds the executor's lease, or the end of a run.
 */
export async function recordVersions(
  tx: Writer,
  executorId: string,
  services: readonly SeenService[],
  at: SeenAt,
): Promise<void> {
  const last = new Map((await lastSeenVersions(tx, executorId)).map((row) => [row.service, row]));
  const append = async (service: string, seen: Seen, { cause, run_id, from_at }: Cause): Promise<void> => {
    const previous = last.get(service);
    // A clock that was set back changes no order.
    const begins = Math.max(from_at, previous?.from_at ?? from_at);
    const row = { id: newId(at.now), executor_id: executorId, service, ...seen, cause, run_id, from_at: begins };
    await seenVersionWrites.insert(tx, row);
    last.set(service, row);
    if (previous !== undefined) await trimSeenVersions(tx, executorId, service, keptOfService);
  };
  if (last.size === 0) {
    for (const run of (await completedRuns(tx, executorId, maxSeeded)).toReversed()) {
      for (const { service, to } of plannedIn(run)) {
        const tag = services.map(({ found }) => found).find((found) => found?.digest === to.digest)?.tag ?? null;
        const cause = run.kind === "rollback" ? "rolled_back" : "run";
        await append(service, { ...to, tag }, { cause, run_id: run.id, from_at: run.ended_at ?? at.now });
      }
    }
  }
  let run: RunOfVersion | null | undefined;
  for (const observation of services) {
    const { service } = observation;
    const seen = seenIn(observation);
    const previous = last.get(service);
    if (previous === undefined) {
      if (seen.reference !== null) await append(service, seen, { cause: "first_seen", run_id: null, from_at: at.now });
    } else if (!isSame(previous, seen)) {
      run ??= await lastChangingRun(tx, executorId);
      const isPast = run !== null && at.by === "look" && hasStored(run);
      await append(service, seen, causeOf(seen, service, isPast ? null : run, at));
    } else if ((previous.digest === null && seen.digest !== null) || (previous.tag === null && seen.tag !== null)) {
      await seenVersionWrites.update(tx, previous.id, {
        digest: seen.digest ?? previous.digest,
        tag: seen.tag ?? previous.tag,
      });
    }
  }
}

/** Which version of each service ran from when to when, the newest first. */
export async function versionSpans(read: Reader, executorId: string): Promise<VersionSpanView[]> {
  return spansOf(await seenVersionsOf(read, executorId, maxShown)).map(({ id, executor_id, ...span }) => span);
}

/** The same of every service that follows a tracker. */
export async function versionSpansUnder(read: Reader, trackerId: string): Promise<VersionSpanUnderTracker[]> {
  return spansOf(await seenVersionsUnder(read, trackerId, maxShown)).map(({ id, ...span }) => span);
}

/** Each version runs until the next one of its service. */
function spansOf<T extends Pick<SeenVersionRow, "executor_id" | "service" | "from_at">>(newestFirst: readonly T[]) {
  const ends = new Map<string, number>();
  return newestFirst.map((row) => {
    const key = JSON.stringify([row.executor_id, row.service]);
    const until_at = ends.get(key) ?? null;
    ends.set(key, row.from_at);
    return { ...row, until_at };
  });
}
