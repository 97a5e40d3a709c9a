import type { CountedTime } from "../../counted-time.ts";
import type { Reader, Writer } from "../../db/client.ts";
import { newId } from "../../ids.ts";
import { type Message, told } from "../../messages/message.ts";
import { pauseAfter } from "../checks/retry.ts";
import {
  closeOutage,
  countWaiting,
  endedOutages,
  findOutage,
  insertOutage,
  latestAtHost,
  type OutageRow,
  openOutages,
  pruneOutages,
  sourcesWaiting,
  updateOutage,
  type Waiting,
  wakeWaiting,
} from "./outage-queries.ts";
import type { UpstreamOutageView } from "./schema.ts";

/** How long past outages are kept. */
const keptMs = 30 * 86_400_000;
/** Between two sources that waited for the same host. */
const stepMs = 1_000;
/** All of them are due within this time, however many there are. */
const wakeWithinMs = 5 * 60_000;
const namedSources = 20;
const listedEnded = 20;

interface FailedCheck {
  source_id: string;
  host: string;
  /** The lease owner of the check. */
  owner: string;
  /** Since when the source has been failing, before this check; null if it was not. */
  failing_since: number | null;
  code: string;
  message: Message;
  /** The minimum pause that upstream asks for. */
  retry_after_ms: number;
}

/**
 * Whether the source fails for its own reasons: since it began to fail, its host responded to another source, and the latest check of
 * another source did not fail in this way.
 */
async function failsAlone(read: Reader, { source_id, host, failing_since }: FailedCheck): Promise<boolean> {
  if (failing_since === null) return false;
  const { succeeded_at, failed_at } = await latestAtHost(read, host, source_id);
  return succeeded_at !== null && succeeded_at >= failing_since && succeeded_at >= (failed_at ?? succeeded_at);
}

/**
 * Notes a failed check with its host's outage, and returns when the source is due; null when the source fails alone. Only the attempt that
 * the outage waited for lengthens the pause: checks that failed together count once.
 */
export async function noteFailure(
  tx: Writer,
  check: FailedCheck,
  { now, counted }: { now: number; counted: Pick<CountedTime, "before"> },
): Promise<number | null> {
  const { host, owner, retry_after_ms } = check;
  const error = { error_code: check.code, error_message: check.message };
  const open = await findOutage(tx, host);
  if (open === null) {
    if (await failsAlone(tx, check)) return null;
    await pruneOutages(tx, counted.before(keptMs));
    const pause_ms = Math.max(pauseAfter(1), retry_after_ms);
    const next_due_at = now + pause_ms;
    await insertOutage(tx, { id: newId(now), host, ...error, since: now, failures: 1, pause_ms, next_due_at });
    return next_due_at;
  }
  if (open.probe_owner === owner) {
    const failures = open.failures + 1;
    const pause_ms = Math.max(pauseAfter(failures), retry_after_ms);
    const next_due_at = now + pause_ms;
    await updateOutage(tx, open.id, { ...error, failures, pause_ms, next_due_at, probe_owner: null });
    return next_due_at;
  }
  if (now + retry_after_ms > open.next_due_at) {
    await updateOutage(tx, open.id, { pause_ms: retry_after_ms, next_due_at: now + retry_after_ms });
    return now + retry_after_ms;
  }
  return open.next_due_at;
}

/** A host has responded: its outage is over, and the sources that waited become due, one after the other. */
export async function endOutage(tx: Writer, host: string, now: number): Promise<boolean> {
  const ended = await closeOutage(tx, host, now);
  if (ended === null) return false;
  const waited = { host, since: ended.since, now };
  const count = await countWaiting(tx, waited);
  if (count === 0) return true;
  await wakeWaiting(tx, waited, Math.max(1, Math.min(stepMs, Math.floor(wakeWithinMs / count))));
  return true;
}

function outageView(row: OutageRow, { total, first }: Waiting = { total: 0, first: [] }): UpstreamOutageView {
  const { host, since, failures, ended_at, error_code, error_message } = row;
  return {
    host,
    since,
    failures,
    next_try_at: ended_at === null ? row.next_due_at : null,
    ended_at,
    error: { code: error_code, ...told(error_message) },
    waiting: total,
    sources: first.map(({ tracker, source }) => ({ tracker, source })),
  };
}

/** The outages that sources wait for, the oldest first. */
export async function currentOutages(read: Reader): Promise<UpstreamOutageView[]> {
  const open = await openOutages(read);
  if (open.length === 0) return [];
  const waiting = await sourcesWaiting(read, namedSources);
  return open.map((row) => outageView(row, waiting.get(row.host))).filter((outage) => outage.waiting > 0);
}

/** Those that ended in the last 30 days, the latest first; at most 20. */
export async function pastOutages(read: Reader): Promise<UpstreamOutageView[]> {
  return (await endedOutages(read, listedEnded)).map((row) => outageView(row));
}
