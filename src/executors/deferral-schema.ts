import * as v from "valibot";
import { InstantText } from "../forms/inputs.ts";
import { type Message, say } from "../messages/message.ts";

/** A version that a service should not be updated to. */
export interface SkippedVersion {
  service: string;
  version: string;
  tag: string;
  reference: string;
  digest: string | null;
  /** Identity of what ran when it was skipped; null if unknown. */
  from: string | null;
}

/** What the administrator decided about an executor's updates: automatic runs obey it, manual ones do not. */
export interface Deferral {
  held_since: number | null;
  snoozed_until: number | null;
  skipped_versions: readonly SkippedVersion[];
}

/** The state of an executor without any decisions. */
export const notDeferred: Deferral = { held_since: null, snoozed_until: null, skipped_versions: [] };

/** Why automatic runs do not start. */
export const deferralReasons = ["on_hold", "snoozed", "version_skipped"] as const;

export interface DeferralReason {
  code: (typeof deferralReasons)[number];
  message: Message;
}

interface Identified {
  reference: string;
  digest: string | null;
}

/** Distinguishes versions of a service: by content, or else by name. */
export function identityOf({ digest, reference }: Identified): string {
  return digest ?? reference;
}

/** A service and the version that it should be at. */
export interface WantedVersion {
  service: string;
  desired: Identified | null;
}

export function isSkipped({ skipped_versions }: Pick<Deferral, "skipped_versions">, wanted: WantedVersion): boolean {
  const { service, desired } = wanted;
  if (desired === null) return false;
  return skipped_versions.some((each) => each.service === service && identityOf(each) === identityOf(desired));
}

/** Whether there are updates and each of them is skipped. `updates`: the services that an update would change. */
export function areAllSkipped(
  deferral: Pick<Deferral, "skipped_versions">,
  updates: readonly WantedVersion[],
): boolean {
  return updates.length > 0 && updates.every((each) => isSkipped(deferral, each));
}

/** A line for each service and version, so that one that changes leaves the others as they are; null without any. */
export function revisionOf(wanted: readonly WantedVersion[]): string | null {
  const lines = wanted.flatMap(({ service, desired }) =>
    desired === null ? [] : [`${service} ${identityOf(desired)}`],
  );
  return lines.length === 0 ? null : lines.toSorted().join("\n");
}

/** Whether a run for the revision `done` included all of `revision`: a manual run also takes skipped versions. */
export function covers(done: string | null, revision: string | null): boolean {
  if (done === null || revision === null) return false;
  const lines = new Set(done.split("\n"));
  return revision.split("\n").every((line) => lines.has(line));
}

/** `now`: counted time, so that a wrong clock does not end it. */
export function isSnoozed({ snoozed_until }: Pick<Deferral, "snoozed_until">, now: number): boolean {
  return snoozed_until !== null && snoozed_until > now;
}

/**
 * Why an automatic run must not start; null if it may. A hold comes first: only the administrator ends it. `updates`: what it would update.
 * At the `decision`, one version that is not skipped is enough, because the plan leaves out the others; a `plan` must not contain a skipped
 * version. `now`: counted time.
 */
export function whyDeferred(
  executor: Deferral,
  updates: readonly WantedVersion[],
  { now, stage }: { now: number; stage: "decision" | "plan" },
): DeferralReason | null {
  if (executor.held_since !== null) return { code: "on_hold", message: say("executors.on_hold") };
  if (isSnoozed(executor, now)) return { code: "snoozed", message: say("executors.snoozed") };
  const skips = stage === "plan" ? updates.some((each) => isSkipped(executor, each)) : areAllSkipped(executor, updates);
  return skips ? { code: "version_skipped", message: say("executors.version_skipped") } : null;
}

/** The longest snooze; what should last longer is a hold. */
export const maxSnoozeHours = 8760;

const Revision = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(100_000),
  v.title("Update"),
  v.description("`update_revision` as last read: refused if another version has been found since"),
);
const RunId = v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.title("Run"));

/** What the administrator can do about an executor's updates, beside running one. Repeating an action changes nothing. */
export const ActionInput = v.variant("action", [
  v.strictObject({
    action: v.pipe(v.literal("hold"), v.description("No automatic run starts until updates are resumed")),
  }),
  v.strictObject({ action: v.literal("resume") }),
  v.strictObject({
    action: v.pipe(
      v.literal("snooze"),
      v.description("No automatic run starts for a while; takes `for_hours` or `until`"),
    ),
    for_hours: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxSnoozeHours), v.title("Hours"))),
    until: v.optional(v.pipe(InstantText, v.title("Until"))),
  }),
  v.strictObject({ action: v.literal("end_snooze") }),
  v.strictObject({
    action: v.pipe(
      v.literal("skip"),
      v.description("Automatic runs leave this version out, until it or a newer one is installed"),
    ),
    revision: Revision,
  }),
  v.strictObject({
    action: v.literal("unskip"),
    revision: v.optional(v.pipe(Revision, v.description("Only what it names; all skipped versions by default"))),
  }),
  v.strictObject({
    action: v.pipe(
      v.literal("dismiss"),
      v.description("Marks the failed last run as needing no attention, if the previous version is running"),
    ),
    run_id: RunId,
  }),
  v.strictObject({ action: v.literal("undismiss"), run_id: RunId }),
]);
export type ActionInput = v.InferOutput<typeof ActionInput>;
