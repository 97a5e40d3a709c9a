import * as v from "valibot";
import { ReachView, TargetServiceView } from "../connections/schema.ts";
import { Description, Instant, Name, NullableInstant } from "../forms/inputs.ts";
import { anyText, type ListShape } from "../forms/page.ts";
import { issue, type Message, say, told } from "../messages/message.ts";
import { MessageSchema, type Problem, ProblemSchema, withSaid } from "../messages/schema.ts";
import { PlannedContainers } from "../runtimes/containers-detail.ts";
import type { UpdateStep } from "../trackers/notes/schema.ts";
import { BehindView, ChannelName } from "../trackers/schema.ts";
import { deferralReasons } from "./deferral.ts";
import { HealthCheck } from "./health-check.ts";
import { OutageView } from "./outage.ts";
import { weekdays } from "./window.ts";

export { BehindView } from "../trackers/schema.ts";
export {
  ActionInput,
  areAllSkipped,
  covers,
  type Deferral,
  type DeferralReason,
  identityOf,
  isSkipped,
  isSnoozed,
  maxSnoozeHours,
  notDeferred,
  revisionOf,
  type SkippedVersion,
  type WantedVersion,
  whyDeferred,
} from "./deferral.ts";
export { HealthCheck } from "./health-check.ts";
export {
  longestTryPauseMs,
  nextTryAt,
  type OutageEnd,
  OutageView,
  outageView,
  type Serving,
  type StoredOutage,
  servingNow,
  servings,
  storedOutage,
} from "./outage.ts";

export const triggers = ["manual", "immediate", "window"] as const;
export type Trigger = (typeof triggers)[number];

/** Why a run was skipped: the condition that was not met at its start. */
export const skipReasons = [
  "already_current",
  "target_missing",
  "target_refused",
  "connection_disabled",
  "executor_disabled",
  "no_release",
  "no_image",
  "no_chart",
  "no_tag",
  "registry_failed",
  "settings_unknown",
  "would_downgrade",
  "would_leave",
  "too_young",
  "window_closed",
  "not_approved",
  ...deferralReasons,
] as const;
export type SkipReason = (typeof skipReasons)[number];

/** A condition that keeps a run from starting, with a message for people. */
export interface Unmet {
  code: SkipReason;
  message: Message;
}

/** As shown and stored. */
const UnmetView = withSaid(
  "message",
  v.object({ code: v.picklist(skipReasons), message: v.string(), message_data: MessageSchema }),
);

export function unmetView(unmet: Unmet | null): v.InferOutput<typeof UnmetView> | null {
  return unmet === null ? null : { code: unmet.code, ...told(unmet.message) };
}

const weekdayTitles = {
  monday: "Monday",
  tuesday: "Tuesday",
  wednesday: "Wednesday",
  thursday: "Thursday",
  friday: "Friday",
  saturday: "Saturday",
  sunday: "Sunday",
};

const time = (title: string, description: string) =>
  v.pipe(
    v.string(),
    v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, issue("fields.time_of_day")),
    v.title(title),
    v.description(description),
    v.metadata({ placeholder: "22:00" }),
  );

export const WindowInput = v.strictObject({
  days: v.pipe(
    v.array(v.picklist(weekdays)),
    v.minLength(1),
    v.check((days) => new Set(days).size === days.length, issue("executors.day_twice")),
    v.title("Maintenance days"),
    v.description("A window belongs to the day on which it starts"),
    v.metadata({ option_titles: weekdayTitles }),
  ),
  start: time("Start time", "In the system time zone"),
  end: time("End time", "Not after the start: on the next day. Equal to the start: the whole day"),
});

const BindingInput = v.strictObject({
  service: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.title("Service")), "main"),
  tracker: v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.title("Tracker")),
  source: v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.title("Source")),
  channel: v.pipe(ChannelName, v.minLength(1), v.title("Release channel")),
});

const entries = {
  name: Name,
  description: Description,
  is_enabled: v.optional(v.pipe(v.boolean(), v.title("Enabled")), true),
  connection_id: v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.title("Connection")),
  target: v.pipe(
    v.strictObject({
      kind: v.pipe(
        v.string(),
        v.minLength(1),
        v.maxLength(50),
        v.title("Kind"),
        v.description("One that the connection has, such as container or compose"),
      ),
      id: v.pipe(v.string(), v.minLength(1), v.maxLength(300), v.title("Target")),
    }),
    v.title("Target"),
  ),
  bindings: v.pipe(
    v.array(BindingInput),
    v.minLength(1, issue("executors.binding_missing")),
    v.maxLength(100),
    v.title("Bindings"),
  ),
  trigger: v.pipe(
    v.picklist(triggers),
    v.title("Trigger mode"),
    v.metadata({ option_titles: { manual: "Manual", immediate: "Immediate", window: "Maintenance window" } }),
  ),
  window: v.optional(v.nullable(v.pipe(WindowInput, v.title("Maintenance window"))), null),
  image_selection: v.optional(
    v.pipe(
      v.picklist(["keep_name", "use_tracker"]),
      v.title("Image selection policy"),
      v.description(
        "Replacing works with any source: the version of a repository or chart becomes the image's tag, in the form of the running tag",
      ),
      v.metadata({
        option_titles: { keep_name: "Replace current image tag", use_tracker: "Use tracker image and tag" },
      }),
    ),
    "keep_name",
  ),
  reference_mode: v.optional(
    v.pipe(
      v.picklist(["digest", "tag"]),
      v.title("Image reference mode"),
      v.metadata({ option_titles: { digest: "Digest", tag: "Tag" } }),
    ),
    "tag",
  ),
  health_check: v.optional(v.pipe(HealthCheck, v.title("Health check")), { strategy: "auto" }),
  restore_on_failure: v.optional(
    v.pipe(
      v.boolean(),
      v.title("Restore on failure"),
      v.description("Restores the previous version if the new one fails its health check"),
    ),
    true,
  ),
  allow_downgrade: v.optional(
    v.pipe(
      v.boolean(),
      v.title("Allow downgrade"),
      v.description(
        "Automatic runs may install a lower version, or one that cannot be compared, but never another variant or line",
      ),
      v.metadata({ advanced: true }),
    ),
    false,
  ),
  minimum_age_hours: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(8760),
      v.title("Minimum age (hours)"),
      v.description("Only versions first seen at least this long ago are used"),
      v.metadata({ advanced: true }),
    ),
    0,
  ),
  requires_approval: v.optional(
    v.pipe(v.boolean(), v.title("Require approval"), v.description("Automatic runs wait until you approve their plan")),
    false,
  ),
  approval_hours: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(720),
      v.title("Wait for approval (hours)"),
      v.description("A run that nobody approves in this time is skipped"),
      // A checked box sends "on".
      v.metadata({ advanced: true, shown_when: { field: "requires_approval", is: ["true", "on"] } }),
    ),
    72,
  ),
  start_first: v.optional(
    v.pipe(
      v.boolean(),
      v.title("Start before stop"),
      v.description(
        "Starts the new container before the old one stops; refused if both cannot run at once, as with published ports",
      ),
      v.metadata({ advanced: true }),
    ),
    false,
  ),
  drain_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(600),
      v.title("Both run for (seconds)"),
      v.description(
        "How long the old container keeps running once the new one is ready, so that your proxy can switch",
      ),
      v.metadata({ advanced: true, shown_when: { field: "start_first", is: ["true", "on"] } }),
    ),
    10,
  ),
  accepted_unknown_settings: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.maxLength(2000))),
      v.maxLength(200),
      v.title("Accepted unknown settings"),
      v.description("Entries of unknown_settings, word for word: automatic runs proceed without carrying them over"),
    ),
    [],
  ),
};

export const ExecutorInput = v.strictObject(entries);
export type ExecutorInput = v.InferOutput<typeof ExecutorInput>;

/** Every field is optional and then unchanged; a given field replaces the stored one as a whole. */
export const ExecutorPatch = v.strictObject({
  name: v.optional(Name),
  description: v.optional(Description.wrapped),
  is_enabled: v.optional(entries.is_enabled.wrapped),
  connection_id: v.optional(entries.connection_id),
  target: v.optional(entries.target),
  bindings: v.optional(entries.bindings),
  trigger: v.optional(entries.trigger),
  window: v.optional(entries.window.wrapped),
  image_selection: v.optional(entries.image_selection.wrapped),
  reference_mode: v.optional(entries.reference_mode.wrapped),
  health_check: v.optional(entries.health_check.wrapped),
  restore_on_failure: v.optional(entries.restore_on_failure.wrapped),
  allow_downgrade: v.optional(entries.allow_downgrade.wrapped),
  minimum_age_hours: v.optional(entries.minimum_age_hours.wrapped),
  requires_approval: v.optional(entries.requires_approval.wrapped),
  approval_hours: v.optional(entries.approval_hours.wrapped),
  start_first: v.optional(entries.start_first.wrapped),
  drain_seconds: v.optional(entries.drain_seconds.wrapped),
  accepted_unknown_settings: v.optional(entries.accepted_unknown_settings.wrapped),
});

/** How what runs differs from what is desired; see `compareImages`. */
const imageDifferences = [
  "current",
  "new_digest",
  "other_mode",
  "other_tag",
  "other_version",
  "other_name",
  "unknown",
] as const;

/** Differences in content, which give an automatic run something to do. */
export const updateDifferences: readonly (typeof imageDifferences)[number][] = [
  "new_digest",
  "other_version",
  "other_name",
];

const Desired = v.object({
  version: v.string(),
  tag: v.string(),
  digest: v.nullable(v.string()),
  reference: v.string(),
  published_at: NullableInstant,
});

/** One service: what was found, and what it should become. */
export const ServiceObservation = v.object({
  service: v.string(),
  tracker: v.string(),
  source: v.string(),
  channel: v.string(),
  /** Null if the target has no such service. */
  found: v.nullable(v.object({ ...TargetServiceView.entries, tag: v.nullable(v.string()) })),
  /** Null if the channel has no eligible release. */
  desired: v.nullable(Desired),
  difference: v.nullable(v.picklist(imageDifferences)),
  download: v.optional(
    v.pipe(
      v.nullable(v.object({ from_bytes: v.nullable(v.number()), to_bytes: v.number() })),
      v.description("Compressed sizes of the running and the desired image on the target's platform, as far as known"),
    ),
  ),
  /** Null if nothing newer is desired, and if the versions cannot be compared. */
  behind: v.optional(v.nullable(BehindView), null),
  /** Why this service is left alone, or keeps a run from starting; null if it can be updated. */
  unmet: v.optional(v.nullable(UnmetView), null),
});
export type ServiceObservation = v.InferOutput<typeof ServiceObservation>;

/** What an update waits for before there is a run. */
const updateWaits = ["window", "age", "retry"] as const;
/** A queued run can also wait for approval of its plan, another run on its connection, or its runtime to answer. */
const waitingReasons = [...updateWaits, "approval", "connection", "runtime"] as const;

/** What an evaluation found and decided; stored with its time. */
export const Observation = v.object({
  services: v.array(ServiceObservation),
  /** Services of the target that follow no tracker. */
  unbound: v.optional(v.array(TargetServiceView), []),
  /** Why the target could not be inspected, or why nothing can be done for it. */
  problem: v.nullable(ProblemSchema),
  /** An upcoming update, and what it waits for. */
  waiting: v.nullable(v.object({ reason: v.picklist(updateWaits), until: NullableInstant })),
  /** What automatic runs work towards; null if nothing is desired, or all of it is skipped. */
  desired_revision: v.nullable(v.string()),
});
export type Observation = v.InferOutput<typeof Observation>;

/** Problems of a target that was inspected; any other problem means that it was not. */
const seenProblems: ReadonlySet<string> = new Set(skipReasons.filter((code) => code !== "connection_disabled"));

/**
 * What may be said now about a target: nothing counts as current or as an update while its runtime does not respond. What was found last
 * stays, with its time.
 */
export function heldNow(observation: Observation, reach: Pick<ReachView, "problem">): Observation {
  const problem = reach.problem ?? observation.problem;
  if (problem === null || (reach.problem === null && seenProblems.has(problem.code))) return observation;
  const services = observation.services.map((service) => ({ ...service, difference: "unknown" as const, unmet: null }));
  return { ...observation, problem, services };
}

/**
 * `held` and `snoozed`: automatic updates pause, whether there is one or not. `skipped`: the update is not wanted. `dismissed`: the update
 * failed and needs no attention any more.
 */
export const executorStates = [
  "current",
  "update",
  "unknown",
  "running",
  "failed",
  "waiting",
  "held",
  "snoozed",
  "skipped",
  "dismissed",
] as const;
export type ExecutorState = (typeof executorStates)[number];

export const executorList: ListShape = {
  sorts: ["name", "target", "run"],
  filters: { state: executorStates, trigger: triggers },
  texts: { connection_id: anyText, tracker: anyText },
  searched: "Part of a name, description or target",
};

export const OpeningView = v.object({ opens_at: Instant, closes_at: Instant });

/** A summary of the last run that ended. */
const LastRun = v.object({
  id: v.string(),
  kind: v.picklist(["update", "rollback"]),
  state: v.string(),
  reason_code: v.nullable(v.string()),
  reason: v.nullable(v.string()),
  reason_data: v.nullable(MessageSchema),
  serving: v.nullable(v.string()),
  /** What became of a target that it left down; null if it left nothing down. */
  outage: v.nullable(OutageView),
  downtime_ms: v.nullable(v.number()),
  from_tag: v.nullable(v.string()),
  to_tag: v.nullable(v.string()),
  started_at: NullableInstant,
  ended_at: NullableInstant,
});

/** `title`: what such targets are called. `artifact`: what its services run. */
const ShownTarget = v.object({
  kind: v.string(),
  title: v.string(),
  title_data: MessageSchema,
  id: v.string(),
  is_group: v.boolean(),
  /** The runtime itself replaces what runs: there are no snapshots, except under the name `saved_as`. */
  is_declarative: v.boolean(),
  saved_as: v.optional(v.string()),
  saved_as_data: v.optional(MessageSchema),
  artifact: v.picklist(["image", "chart"]),
});

export const ExecutorView = v.object({
  id: v.string(),
  name: v.string(),
  description: v.string(),
  is_enabled: v.boolean(),
  connection_id: v.string(),
  connection: v.object({
    id: v.string(),
    name: v.string(),
    kind: v.string(),
    is_enabled: v.boolean(),
    /** Whether it responds; its looks are shared by all its executors. */
    reach: ReachView,
  }),
  target: ShownTarget,
  bindings: v.array(
    v.object({
      service: v.string(),
      tracker: v.string(),
      source: v.string(),
      /** The channel's name. */
      channel: v.string(),
    }),
  ),
  trigger: v.picklist(triggers),
  window: v.nullable(WindowInput),
  image_selection: v.picklist(["keep_name", "use_tracker"]),
  reference_mode: v.picklist(["digest", "tag"]),
  health_check: v.record(v.string(), v.unknown()),
  restore_on_failure: v.boolean(),
  allow_downgrade: v.boolean(),
  minimum_age_hours: v.number(),
  requires_approval: v.boolean(),
  /** How long a run waits for approval before it is skipped. */
  approval_hours: v.number(),
  start_first: v.boolean(),
  /** How long both containers run if the new one starts first. */
  drain_seconds: v.number(),
  /** Settings of the target that the runtime did not report when it was last inspected, one sentence each. */
  unknown_settings: v.array(v.string()),
  unknown_settings_data: v.array(MessageSchema),
  accepted_unknown_settings: v.array(v.string()),
  /** Why automatic runs would be skipped although the target can be updated. */
  warnings: v.array(ProblemSchema),
  state: v.picklist(executorStates),
  services: v.array(ServiceObservation),
  /** Services of the target that follow no tracker and are left alone. */
  unbound: v.array(TargetServiceView),
  /** When the services were inspected; the state shown is the one found then. */
  observed_at: NullableInstant,
  problem: v.nullable(ProblemSchema),
  /** `message` gives details, such as the run that it waits for. */
  waiting: v.nullable(
    v.object({
      reason: v.picklist(waitingReasons),
      until: NullableInstant,
      message: v.nullable(v.string()),
      message_data: v.nullable(MessageSchema),
    }),
  ),
  /** The window's current opening. */
  open_window: v.nullable(OpeningView),
  /** The next three openings of the window, in window mode. */
  next_windows: v.array(OpeningView),
  active_run_id: v.nullable(v.string()),
  /** The last run that was queued, whatever became of it: a run can be refused if there has been another since. */
  newest_run_id: v.nullable(v.string()),
  /** Since when automatic runs are on hold; null unless they are. */
  held_since: NullableInstant,
  /** Until when no automatic run starts; null unless updates are snoozed. */
  snoozed_until: NullableInstant,
  /** Identifies the update that is available, without what is skipped: an action on it names it. Null if there is none. */
  update_revision: v.nullable(v.string()),
  /** The versions that are skipped, in the same form; null if there are none. */
  skipped_revision: v.nullable(v.string()),
  /** Whether there is an update and none of it is wanted. */
  is_version_skipped: v.boolean(),
  /** The failed run that can be dismissed: the last one, while the previous version runs. */
  dismissible_run_id: v.nullable(v.string()),
  last_run: v.nullable(LastRun),
  created_at: Instant,
  updated_at: Instant,
});
export type ExecutorView = v.InferOutput<typeof ExecutorView>;

/** Why another version of a service runs than before. */
const versionCauses = ["first_seen", "run", "rolled_back", "outside"] as const;
export type VersionCause = (typeof versionCauses)[number];

/** A version of a service, from when to when it was running. */
export const VersionSpanView = v.object({
  service: v.string(),
  /** Of the image or the chart; null if the target had no such service. */
  reference: v.nullable(v.string()),
  tag: v.nullable(v.string()),
  digest: v.nullable(v.string()),
  /** Why it runs: by a run, `rolled_back` by one, changed `outside` Tidemark, or already there at the first look. */
  cause: v.picklist(versionCauses),
  run_id: v.nullable(v.string()),
  from_at: Instant,
  /** Null if it is the last one seen. */
  until_at: NullableInstant,
});
export type VersionSpanView = v.InferOutput<typeof VersionSpanView>;

/** Of one of the executors that follow a tracker. */
export interface VersionSpanUnderTracker extends VersionSpanView {
  executor_id: string;
  executor: string;
}

/** The newest first; at most 200, and at most 50 of each service. */
export const VersionSpansView = v.object({ items: v.array(VersionSpanView) });

/** One setting that a plan changes, in the runtime's own terms. */
export const FieldDiffView = v.object({
  service: v.string(),
  path: v.string(),
  before: v.nullable(v.string()),
  after: v.nullable(v.string()),
  because: v.picklist(["desired", "image", "chart", "runtime"]),
});

/** A file that will not match what runs, with the edit that makes it match. */
export const FileNoticeView = v.object({
  service: v.string(),
  path: v.nullable(v.string()),
  patch: v.string(),
  is_readable: v.boolean(),
  message: v.string(),
  message_data: MessageSchema,
});

export const PlannedServiceView = v.object({
  service: v.string(),
  from: v.object({ reference: v.string(), digest: v.nullable(v.string()), image_id: v.string() }),
  to: v.object({ reference: v.string(), digest: v.nullable(v.string()) }),
});

/** A stored plan's detail. Earlier releases stored its members beside the common ones. */
export function detailOf(plan: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { detail } = plan;
  return typeof detail === "object" && detail !== null ? { ...detail } : plan;
}

/** What a run would do now. */
export const PlanView = v.object({
  target: ShownTarget,
  services: v.array(ServiceObservation),
  unbound: v.array(TargetServiceView),
  /** The first condition that a run would not meet; null if it could start. */
  unmet: v.nullable(UnmetView),
  /** The version is not an onward move, such as a downgrade; a run for it is approved by sending the plan's hash. */
  is_downgrade: v.boolean(),
  /** Null if an unmet condition leaves nothing to plan. */
  plan: v.nullable(
    v.object({
      hash: v.string(),
      is_noop: v.boolean(),
      services: v.array(PlannedServiceView),
      /** Every container that is replaced, in the order in which the new ones start; none for other kinds of target. */
      containers: v.optional(PlannedContainers, []),
      /** The plan's detail, in the form of the target's kind. */
      detail: v.optional(v.record(v.string(), v.unknown()), {}),
      order: v.picklist(["stop_first", "start_first"]),
      drain_seconds: v.number(),
      /** Files that will not match what runs, with the edits that make them match. */
      files: v.array(FileNoticeView),
      diff: v.array(FieldDiffView),
      carried: v.record(v.string(), v.number()),
      refusals: v.array(ProblemSchema),
      warnings: v.array(ProblemSchema),
    }),
  ),
  /** The median of the last runs that stopped something, five at most; null before the first. */
  expected_downtime_ms: v.nullable(v.number()),
  /** How many runs the median is from. */
  expected_downtime_runs: v.number(),
});
export type PlanView = v.InferOutput<typeof PlanView>;

/** Why a manual run of this plan would do nothing; null if it would do something. A downgrade is approved by the plan's hash. */
export function whyNoRun({ plan, unmet, target }: PlanView): Problem | null {
  const reason = unmet ?? plan?.refusals[0] ?? null;
  if (reason !== null) return reason;
  if (plan !== null && !plan.is_noop) return null;
  return { code: "already_current", ...told(say("executors.already_current", { target: target.id })) };
}

/** The moves of a plan that was made now. */
export function stepsOfPlan({ services }: Pick<PlanView, "services">): readonly UpdateStep[] {
  return services.flatMap(({ tracker, source, channel, found, desired }) => {
    const from = found?.tag ?? null;
    if (from === null || desired === null || desired.tag === from) return [];
    return [{ tracker, source, channel, from, to: desired.tag }];
  });
}
