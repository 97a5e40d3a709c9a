import * as v from "valibot";
import { Description, Name } from "../forms/inputs.ts";
import { issue } from "../messages/message.ts";
import { ChannelName } from "../trackers/schema.ts";
import { HealthCheck } from "./health-check-schema.ts";
import { weekdays } from "./window.ts";

export const triggers = ["manual", "immediate", "window"] as const;
export type Trigger = (typeof triggers)[number];

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
  is_enabled: v.optional(v.pipe(v.boolean(), v.title("Enabled")), true),
  connection_id: v.pipe(v.string(), v.minLength(1), v.maxLength(64), v.title("Connection")),
  target: v.pipe(
    v.strictObject({
      kind: v.pipe(
        v.string(),
        v.minLength(1),
        v.maxLength(50),
        v.title("Kind"),
        v.description("A kind that the connection has, such as container or compose"),
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
      v.description("Runs that are not approved within this time are skipped"),
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
  description: Description,
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
