import type { Writer } from "../db/client.ts";
import { PluginError } from "../errors.ts";
import {
  nextTryAt,
  type OutageEnd,
  type Serving,
  type StoredOutage,
  storedOutage,
} from "../executors/outage-schema.ts";
import { inEnglish, type Message, plain, say, toldAs, withTexts } from "../messages/message.ts";
import type { Journal, JournalEntry } from "../runtimes/journal.ts";
import type { Recovery } from "../runtimes/session.ts";
import { versionsOf } from "./advance.ts";
import { cleanupAfter } from "./conclude.ts";
import { capturedBy, type RunContext } from "./context.ts";
import { fence } from "./journal.ts";
import { isRestart, notOwed } from "./outage.ts";
import { appendStep, deleteStepsBetween, executorOfRun, makeExecutorDue, updateHeldRun } from "./queries.ts";
import { lookAt, observeServing } from "./serving.ts";
import { intendRollback, NotStarted, prepare } from "./start.ts";

/** The journal step of one attempt. */
const step = "bring_up";
/** How long an attempt watches the containers it started; the next attempt checks those that are not ready by then. */
const watchMs = 60_000;
const watchIntervalMs = 1_000;

type Held = Pick<RunContext, "deps" | "run" | "lease" | "journal">;

/** Ends an outage that the run is no longer responsible for, before contacting the runtime. */
export async function endUnowed(held: Held & Pick<RunContext, "settings">): Promise<void> {
  const outage = storedOutage(held.run.outage);
  const end = await notOwed(held);
  if (outage !== null && end !== null) await endOutage(held, outage, end);
}

/** After a failed attempt, such as on an unreachable runtime: ends the outage if its day is over. */
export async function giveUpWhenOver(held: Held, cause: Message): Promise<void> {
  const outage = storedOutage(held.run.outage);
  const { clock, counted } = held.deps;
  if (outage === null || nextTryAt(held.run, 1, { now: clock.now(), counted: counted.now() }) !== null) return;
  await endOutage(held, outage, { outcome: "given_up", detail: givenUp(cause) });
}

const givenUp = (cause: Message) => say("runs.tried_for_a_day", { cause });

/**
 * One attempt to start what an ended run left down. When the outage is over, for whatever reason, the run's backups are due for removal;
 * until then the run is released for the next attempt.
 */
export async function bringUp(context: RunContext): Promise<void> {
  const { deps, run, journal } = context;
  const outage = storedOutage(run.outage);
  if (outage === null) throw new Error(`The run "${run.id}" has no outage`);
  const own = entriesOfTry(journal.entries());
  // An attempt interrupted by a crash has changed containers itself: only names, labels and IDs show which are ours.
  const isTornOff = own !== null && own.length > 0;
  const found = await lookAt(context, { before: isTornOff ? null : outage.left });
  if (found.changed !== null) {
    await endOutage(context, outage, { outcome: "changed", detail: found.changed });
    return;
  }
  if (own === null) await journal.note(step, "begin", { number: outage.tries + 1 });
  const isUpAlready = found.is_up && !isTornOff;
  const recovery = isUpAlready ? null : await tryOnce(context, outage, isTornOff);
  const upAt = deps.clock.now();
  const failure = recovery?.state === "down" ? recovery.detail : await whyNotReady(context);
  if (failure !== null) {
    const way = isRestart(context) && recovery?.state === "untouched" ? ("again" as const) : outage.way;
    await endTry(context, { ...outage, way }, failure);
    return;
  }
  const isNew = recovery !== null && cleanupAfter(recovery) === "previous";
  const { serving } = await observeServing(context, isNew ? "desired" : "previous");
  await endOutage(context, outage, {
    outcome: "recovered",
    detail: isUpAlready ? say("runs.up_by_itself") : null,
    ...{ serving, up_at: upAt, is_new: isNew },
  });
}

/** The entries since the last attempt began; null if it has ended. */
function entriesOfTry(entries: readonly JournalEntry[]): readonly JournalEntry[] | null {
  const last = entries.findLastIndex((entry) => entry.step === step);
  return entries[last]?.phase === "begin" ? entries.slice(last + 1) : null;
}

async function tryOnce(context: RunContext, outage: StoredOutage, isTornOff: boolean): Promise<Recovery> {
  const { journal, session, settings, lease, shutdown } = context;
  const { target } = settings;
  const snapshot = await capturedBy(context);
  try {
    if (outage.way === "again") {
      const own = journalOfTry(journal);
      if (isTornOff) return await session.recover(target, own, snapshot, shutdown);
      return await rollBackAgain(context, own, snapshot);
    }
    const isCommitted = journal.entries().some((entry) => entry.step === "commit");
    return isCommitted
      ? await session.recover(target, journal, snapshot, shutdown)
      : await session.undo(target, journal, snapshot, shutdown);
  } catch (error) {
    lease.signal.throwIfAborted();
    if (shutdown.aborted || !(error instanceof PluginError) || error.code === "unreachable") throw error;
    return { state: "down", detail: error.said };
  }
}

/** The journal as if the attempt were a run of its own, without the run's earlier entries. */
function journalOfTry(journal: Journal): Journal {
  return { ...journal, entries: () => entriesOfTry(journal.entries()) ?? [] };
}

/** Nothing ran before the rollback and everything is as it was then, so the rollback can be repeated. */
async function rollBackAgain(context: RunContext, own: Journal, snapshot: string | null): Promise<Recovery> {
  const { session, settings, shutdown } = context;
  try {
    const intent = await intendRollback(context);
    const prepared = await prepare({ ...context, journal: { ...context.journal, ...own } }, intent);
    await prepared.apply(shutdown);
    return { state: "started", detail: plain("") };
  } catch (error) {
    if (error instanceof NotStarted) return { state: "down", detail: error.reason.message };
    if (!(error instanceof PluginError)) throw error;
    await session.undo(settings.target, own, snapshot, shutdown);
    return { state: "down", detail: error.said };
  }
}

/** Null once the runtime reports everything that should run as ready. */
async function whyNotReady(context: RunContext): Promise<Message | null> {
  const { lease, shutdown } = context;
  const { clock } = context.deps;
  const since = clock.elapsed();
  const { facts: before } = await lookAt(context);
  const signal = AbortSignal.any([lease.signal, shutdown]);
  for (;;) {
    const { readiness } = await lookAt(context, { before, ran_ms: clock.elapsed() - since });
    if (readiness.ready) return null;
    if (readiness.final === true || clock.elapsed() - since >= watchMs) return readiness.detail;
    await clock.sleep(watchIntervalMs, signal);
  }
}

/** A failed attempt keeps its result but not its steps: there can be hundreds of attempts. */
async function endTry(context: RunContext, outage: StoredOutage, failure: Message): Promise<void> {
  const { deps, run, lease } = context;
  const left = { ...(await lookAt(context)).facts };
  const now = deps.clock.now();
  const tries = outage.tries + 1;
  const detail = withTexts(failure, deps.redact);
  const dueAt = nextTryAt(run, tries, { now, counted: deps.counted.now() });
  if (dueAt === null) {
    const end = { outcome: "given_up", detail: givenUp(failure) } as const;
    await endOutage(context, { ...outage, left, tries }, end);
    return;
  }
  await deps.db.write(async (tx) => {
    await fence(tx, lease, now);
    await closeTry(tx, run.id, "fail", { number: tries, ...toldAs("error", detail) }, now);
    await updateHeldRun(tx, run.id, lease.owner, {
      outage: { ...outage, left, tries, ...toldAs("detail", detail) },
      outage_due_at: dueAt,
      lease_owner: null,
      lease_until: null,
    });
  });
  deps.log.warning("Target is still down", { run: run.id, tries, error: inEnglish(detail) });
  deps.changes.announce(run.id);
}

async function closeTry(
  tx: Writer,
  runId: string,
  phase: "finish" | "fail",
  facts: Readonly<Record<string, unknown>>,
  at: number,
): Promise<void> {
  const seq = await appendStep(tx, { run_id: runId, step, phase, facts, at });
  if (phase === "fail") await deleteStepsBetween(tx, runId, step, seq);
}

interface End {
  outcome: OutageEnd;
  detail: Message | null;
  /** If it recovered. */
  serving?: Serving;
  up_at?: number;
  /** The new version runs; the previous one is no longer needed. */
  is_new?: boolean;
}

/** Ends the outage: stores its result and downtime, and records the one event of a recovery, in one transaction. */
async function endOutage(held: Held, outage: StoredOutage, end: End): Promise<void> {
  const { deps, run, lease, journal } = held;
  const { outcome, serving = null, is_new: isNew = false } = end;
  const now = deps.clock.now();
  const isRecovered = outcome === "recovered";
  const detail = end.detail === null ? null : withTexts(end.detail, deps.redact);
  const tries = isRecovered ? outage.tries + 1 : outage.tries;
  const upAt = end.up_at ?? now;
  const downtime = Math.max(run.downtime_ms ?? 0, upAt - outage.since);
  const ended = { ...outage, tries, outcome, ...toldAs("detail", detail), serving, ended_at: isRecovered ? upAt : now };
  await deps.db.write(async (tx) => {
    await fence(tx, lease, now);
    if (isNew) await appendStep(tx, { run_id: run.id, step: "commit", phase: "finish", facts: {}, at: now });
    await closeTry(
      tx,
      run.id,
      isRecovered ? "finish" : "fail",
      { outcome, serving, ...toldAs("error", isRecovered ? null : detail), ...toldAs("detail", detail) },
      now,
    );
    await updateHeldRun(tx, run.id, lease.owner, {
      outage: ended,
      outage_due_at: null,
      cleanup_due_at: now,
      ...(isRecovered && outage.way === "back" ? { downtime_ms: downtime } : {}),
    });
    await makeExecutorDue(tx, run.executor_id, now);
    if (isRecovered) await recordRecovery(held, tx, ended, upAt);
  });
  run.outage = ended;
  run.outage_due_at = null;
  run.cleanup_due_at = now;
  const fields = { run: run.id, outcome, detail: detail === null ? null : inEnglish(detail), tries };
  if (isRecovered) deps.log.info("Target is running again", fields);
  else deps.log.warning("No more attempts to start the target", fields);
  await journal.reload();
  deps.changes.announce(run.id);
}

async function recordRecovery(
  { deps, run }: Held,
  tx: Writer,
  { since, tries, serving }: StoredOutage,
  upAt: number,
): Promise<void> {
  const executor = await executorOfRun(tx, run.executor_id);
  if (executor === null) throw new Error(`The run "${run.id}" has no executor`);
  await deps.recordEvent(tx, {
    kind: "executor_target_recovered",
    executor_id: executor.id,
    facts: {
      executor: executor.name,
      run: run.id,
      kind: run.kind,
      ...versionsOf(run),
      outcome: "recovered",
      serving,
      down_since: since,
      downtime_ms: upAt - since,
      tries,
    },
  });
}
