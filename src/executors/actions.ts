import type { AuditEvent, AuditRecord, RecordAudit } from "../auth/audit-schema.ts";
import type { Actor } from "../auth/schema.ts";
import { type Clock, parseInstant, toIso } from "../clock.ts";
import { seenService } from "../connections/schema.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Writer } from "../db/client.ts";
import { AppError, invalidInput } from "../errors.ts";
import { say } from "../messages/message.ts";
import {
  type ActionInput,
  identityOf,
  isSkipped,
  isSnoozed,
  maxSnoozeHours,
  revisionOf,
  type SkippedVersion,
} from "./deferral-schema.ts";
import { type ExecutorRow, lastSettledRun, updateExecutorRow } from "./queries.ts";
import { dismissibleRun, updatesOf } from "./view.ts";

interface ActionDeps {
  clock: Clock;
  counted: CountedTime;
  audit: RecordAudit;
}

/** What an action changes, its trace, and the action that takes it back. */
interface Effect {
  changes: Partial<
    Pick<ExecutorRow, "held_since" | "snoozed_until" | "snoozed_ms" | "skipped_versions" | "dismissed_run_id">
  >;
  event: AuditEvent;
  detail?: AuditRecord["detail"];
  undo: ActionInput;
}

const hourMs = 3_600_000;

/**
 * Acts on an executor's updates within the caller's transaction; returns what takes it back, or null if nothing was to change. Throws 409
 * `other_version` or `not_dismissible` if it is not about what is there now.
 */
export async function act(
  deps: ActionDeps,
  tx: Writer,
  actor: Actor,
  row: ExecutorRow,
  action: ActionInput,
): Promise<ActionInput | null> {
  const effect = await effectOf(deps, tx, row, action);
  if (effect === null) return null;
  // Evaluated at once: what waits may have to be withdrawn, and what was deferred may start.
  await updateExecutorRow(tx, row.id, { ...effect.changes, next_evaluation_at: deps.clock.now() });
  await deps.audit(tx, actor, {
    event: effect.event,
    outcome: "ok",
    subject: { kind: "executor", id: row.id, name: row.name },
    ...(effect.detail === undefined ? {} : { detail: effect.detail }),
  });
  return effect.undo;
}

async function effectOf(deps: ActionDeps, tx: Writer, row: ExecutorRow, action: ActionInput): Promise<Effect | null> {
  switch (action.action) {
    case "hold":
      if (row.held_since !== null) return null;
      return { changes: { held_since: deps.clock.now() }, event: "executor_held", undo: { action: "resume" } };
    case "resume":
      if (row.held_since === null) return null;
      return { changes: { held_since: null }, event: "executor_resumed", undo: { action: "hold" } };
    case "snooze":
      return snooze(deps, row, action);
    case "end_snooze": {
      const until = row.snoozed_until;
      if (until === null || !isSnoozed(row, deps.counted.now())) return null;
      return {
        changes: { snoozed_until: null, snoozed_ms: null },
        event: "executor_snooze_ended",
        undo: { action: "snooze", until: toIso(until) },
      };
    }
    case "skip":
      return skip(row, action.revision);
    case "unskip":
      return unskip(row, action.revision ?? null);
    case "dismiss":
      return await dismiss(tx, row, action.run_id);
    case "undismiss":
      if (row.dismissed_run_id !== action.run_id) return null;
      return {
        changes: { dismissed_run_id: null },
        event: "failure_undismissed",
        detail: { run: action.run_id },
        undo: { action: "dismiss", run_id: action.run_id },
      };
  }
}

function snooze(
  { clock, counted }: ActionDeps,
  row: ExecutorRow,
  { for_hours, until }: ActionInput & { action: "snooze" },
): Effect | null {
  if ((for_hours === undefined) === (until === undefined)) {
    throw invalidInput({ for_hours: say("executors.snooze_length") });
  }
  const now = clock.now();
  const snoozed_ms = until === undefined ? (for_hours ?? 0) * hourMs : (parseInstant(until) ?? 0) - now;
  if (snoozed_ms <= 0) throw invalidInput({ until: say("executors.snooze_past") });
  if (snoozed_ms > maxSnoozeHours * hourMs) throw invalidInput({ until: say("executors.snooze_too_long") });
  // From the later of both times: a clock that is behind must not make it shorter.
  const snoozed_until = Math.max(now, counted.counted()) + snoozed_ms;
  if (snoozed_until === row.snoozed_until) return null;
  const before = row.snoozed_until;
  return {
    changes: { snoozed_until, snoozed_ms },
    event: "executor_snoozed",
    detail: { until: toIso(snoozed_until) },
    undo:
      before !== null && isSnoozed(row, counted.now())
        ? { action: "snooze", until: toIso(before) }
        : { action: "end_snooze" },
  };
}

const lineOf = (each: SkippedVersion) => revisionOf([{ service: each.service, desired: each }]) ?? "";

/** Exactly the versions that the person saw; each service has one skipped version at most. */
function skip(row: ExecutorRow, revision: string): Effect | null {
  const lines = new Set(revision.split("\n"));
  const known = new Set(row.skipped_versions.map(lineOf));
  if ([...lines].every((line) => known.has(line))) return null;
  const meant = updatesOf(row).flatMap(({ service, found, desired }): SkippedVersion[] => {
    if (desired === null || isSkipped(row, { service, desired })) return [];
    const { version, tag, reference, digest } = desired;
    return [
      {
        service,
        version,
        tag,
        reference,
        digest,
        from: found === null ? null : identityOf(seenService(found).artifact),
      },
    ];
  });
  const skipped = meant.filter((each) => lines.has(lineOf(each)));
  const found = new Set([...known, ...skipped.map(lineOf)]);
  if (![...lines].every((line) => found.has(line))) {
    throw new AppError("other_version", 409, say("executors.other_version", { executor: row.name }));
  }
  const services = new Set(skipped.map(({ service }) => service));
  const kept = row.skipped_versions.filter(({ service }) => !services.has(service));
  return {
    changes: { skipped_versions: [...kept, ...skipped] },
    event: "version_skipped",
    detail: { version: namesOf(skipped) },
    undo: { action: "unskip", revision: skipped.map(lineOf).toSorted().join("\n") },
  };
}

function unskip(row: ExecutorRow, revision: string | null): Effect | null {
  const lines = revision === null ? null : new Set(revision.split("\n"));
  const ended = row.skipped_versions.filter((each) => lines === null || lines.has(lineOf(each)));
  if (ended.length === 0) return null;
  return {
    changes: { skipped_versions: row.skipped_versions.filter((each) => !ended.includes(each)) },
    event: "version_unskipped",
    detail: { version: namesOf(ended) },
    undo: { action: "skip", revision: ended.map(lineOf).toSorted().join("\n") },
  };
}

function namesOf(versions: readonly SkippedVersion[]): string {
  return [...new Set(versions.map(({ tag }) => tag))].join(", ");
}

async function dismiss(tx: Writer, row: ExecutorRow, runId: string): Promise<Effect | null> {
  if (row.dismissed_run_id === runId) return null;
  const last = await lastSettledRun(tx, row.id);
  if (dismissibleRun(last, row) !== runId) {
    throw new AppError("not_dismissible", 409, say("executors.not_dismissible"));
  }
  return {
    changes: { dismissed_run_id: runId },
    event: "failure_dismissed",
    detail: { run: runId },
    undo: { action: "undismiss", run_id: runId },
  };
}
