import { revisionOf } from "../executors/deferral-schema.ts";
import { updateDifferences } from "../executors/observation-schema.ts";
import type { PlanView } from "../executors/plan-schema.ts";
import type { ExecutorView } from "../executors/schema.ts";
import { type Message, say, told } from "../messages/message.ts";
import type { Problem } from "../messages/schema.ts";
import type { BreakingStep } from "../trackers/notes/schema.ts";
import { classify } from "../versions/classify.ts";

interface Update {
  executor: ExecutorView;
  /** Null if nothing was planned, which has a reason of its own. */
  plan: PlanView | null;
  breaking: readonly BreakingStep[];
}

/**
 * Why an update should be reviewed first. Empty for a small step forward that has no warnings, is not deferred and can be rolled back.
 * Without any source of release notes, the step alone decides.
 */
export function whyUnsafe({ executor, plan, breaking }: Update): readonly Problem[] {
  const { target } = executor;
  const updates = (plan ?? executor).services.filter(
    ({ difference }) => difference !== null && updateDifferences.includes(difference),
  );
  const skipped = new Set(executor.skipped_revision?.split("\n"));
  const isSkipped = updates.some((each) => skipped.has(revisionOf([each]) ?? ""));
  const reasons: (readonly [code: string, message: Message] | null)[] = [
    executor.held_since === null ? null : ["on_hold", say("executors.on_hold")],
    executor.snoozed_until === null ? null : ["snoozed", say("executors.snoozed")],
    isSkipped ? ["version_skipped", say("executors.version_skipped")] : null,
    executor.state === "failed" || executor.state === "dismissed" ? ["last_failed", say("bulk.last_failed")] : null,
    isRolledBack(executor, updates) ? ["rolled_back", say("bulk.rolled_back")] : null,
    updates.length === 0 ? ["already_current", say("executors.already_current")] : null,
    ...updates.map(whyLarge),
    plan?.is_downgrade === true ? ["not_onward", say("bulk.not_onward")] : null,
    ...(plan?.plan?.warnings ?? []).map(({ code, message_data }) => [code, message_data] as const),
    ...breaking.map(({ tracker, versions }) => {
      const names = versions.map(({ version }) => version);
      return names.length === 0 ? null : (["breaking", say("bulk.breaking", { tracker, versions: names })] as const);
    }),
    ...breaking.map(({ tracker, notes }) =>
      notes === "unread" ? (["notes_unread", say("bulk.notes_unread", { tracker })] as const) : null,
    ),
    target.is_declarative && target.saved_as === undefined ? ["no_rollback", say("bulk.no_rollback")] : null,
  ];
  return reasons.flatMap((reason) => (reason === null ? [] : [{ code: reason[0], ...told(reason[1]) }]));
}

/** A run of a group names the version of its first service only. */
function isRolledBack(
  { target, last_run: last }: ExecutorView,
  updates: readonly PlanView["services"][number][],
): boolean {
  if (last?.kind !== "rollback") return false;
  return target.is_group || last.from_tag === null || updates.some(({ desired }) => desired?.tag === last.from_tag);
}

/** A version below 1.0 breaks with its second number; a date as a version says nothing. */
function whyLarge({ found, desired, difference, behind }: PlanView["services"][number]) {
  const [from, to] = [found?.tag ?? "", desired?.tag ?? ""];
  // The same version, built again.
  if (difference === "new_digest" && from === to) return null;
  const steps = behind?.steps ?? null;
  if (steps === null) return ["unmeasured", say("bulk.unmeasured", { from, to })] as const;
  const isEarly = classify(from).numbers[0] === "0";
  if (steps.major > 0) return ["major", say("bulk.major", { from, to })] as const;
  return isEarly && steps.minor > 0 ? (["major", say("bulk.early", { from, to })] as const) : null;
}
