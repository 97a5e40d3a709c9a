import * as v from "valibot";
import { ReachView, TargetServiceView } from "../connections/schema.ts";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import { anyText, type ListShape } from "../forms/page.ts";
import { MessageSchema, ProblemSchema } from "../messages/schema.ts";
import { ServiceObservation, ShownTarget, updateWaits } from "./observation-schema.ts";
import { OutageView } from "./outage-schema.ts";
import { triggers, WindowInput } from "./settings-schema.ts";

/** A queued run can also wait for approval of its plan, another run on its connection, or its runtime to respond. */
const waitingReasons = [...updateWaits, "approval", "connection", "runtime"] as const;

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
  sorts: ["name", "target", "state", "run"],
  filters: { state: executorStates, trigger: triggers },
  texts: { connection_id: anyText, tracker: anyText },
  searched: "Part of a name, description or target",
};

const OpeningView = v.object({ opens_at: Instant, closes_at: Instant });

/** A summary of the last run that ended. */
const LastRun = v.object({
  id: v.string(),
  kind: v.picklist(["update", "rollback"]),
  state: v.string(),
  reason_code: v.nullable(v.string()),
  reason: v.nullable(v.string()),
  reason_data: v.nullable(MessageSchema),
  serving: v.nullable(v.string()),
  /** The outage of a target that it left down; null if it left nothing down. */
  outage: v.nullable(OutageView),
  downtime_ms: v.nullable(v.number()),
  from_tag: v.nullable(v.string()),
  to_tag: v.nullable(v.string()),
  started_at: NullableInstant,
  ended_at: NullableInstant,
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
  /** Why the state is unknown, or why nothing can be done for the target. */
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
  /** The last run that was queued, whatever its outcome: a run can be refused if there has been another since. */
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
