import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { flag, id, instant, type JsonObject, json, rememberedJson } from "./columns.ts";
import { connections } from "./connections.ts";
import { tracker_sources, trackers } from "./trackers.ts";

/** A version that an executor's service should not be updated to. */
export interface SkippedVersion {
  service: string;
  version: string;
  tag: string;
  reference: string;
  digest: string | null;
  /** Identity of what ran when it was skipped; null if unknown. */
  from: string | null;
}

export const executors = sqliteTable(
  "executors",
  {
    id: id(),
    name: text("name").notNull(),
    description: text("description").notNull().default(""),
    is_enabled: flag("is_enabled").notNull().default(true),
    connection_id: text("connection_id")
      .notNull()
      .references(() => connections.id, { onDelete: "restrict" }),
    target_kind: text("target_kind").notNull(),
    target_id: text("target_id").notNull(),
    trigger: text("trigger", { enum: ["manual", "immediate", "window"] }).notNull(),
    /** `{ days, start, end }` in window mode. */
    window: json<JsonObject>("window"),
    image_selection: text("image_selection", { enum: ["keep_name", "use_tracker"] }).notNull(),
    reference_mode: text("reference_mode", { enum: ["digest", "tag"] }).notNull(),
    /** `{ strategy, on_failure, probe config, timings }`. */
    health_check: json<JsonObject>("health_check").notNull(),
    restore_on_failure: flag("restore_on_failure").notNull(),
    allow_downgrade: flag("allow_downgrade").notNull().default(false),
    minimum_age_hours: integer("minimum_age_hours").notNull().default(0),
    /** A run waits this many hours for the administrator to approve its plan. */
    requires_approval: flag("requires_approval").notNull().default(false),
    approval_hours: integer("approval_hours").notNull().default(72),
    /** The new container starts before the old one stops. */
    start_first: flag("start_first").notNull().default(false),
    /** How long both run after the new one is ready. */
    drain_seconds: integer("drain_seconds").notNull().default(10),
    /** Settings of the target that the runtime did not report last time: one sentence each. */
    unknown_settings: json<readonly string[]>("unknown_settings").notNull().default([]),
    /** Those of them that an automatic run may lose, word for word. */
    accepted_unknown_settings: json<readonly string[]>("accepted_unknown_settings").notNull().default([]),
    /** Since when automatic updates are on hold; null unless they are. */
    held_since: instant("held_since"),
    /** Automatic updates pause until then; null unless they were snoozed. */
    snoozed_until: instant("snoozed_until"),
    /** For how long they were snoozed: no right clock leaves more of it. */
    snoozed_ms: integer("snoozed_ms"),
    /** Versions that automatic updates leave out: one for each service at most. */
    skipped_versions: json<readonly SkippedVersion[]>("skipped_versions").notNull().default([]),
    /** The failed run that needs no attention any more. */
    dismissed_run_id: text("dismissed_run_id"),
    /** When the trigger is evaluated next; null when nothing is due. */
    next_evaluation_at: instant("next_evaluation_at"),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    /** The target as last observed, with its time; pages show this state. */
    observed: rememberedJson<JsonObject>("observed"),
    observed_at: instant("observed_at"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [
    uniqueIndex("executors_name").on(t.name),
    uniqueIndex("executors_target").on(t.connection_id, t.target_kind, t.target_id),
    index("executors_due").on(t.next_evaluation_at),
  ],
);

export const executor_bindings = sqliteTable(
  "executor_bindings",
  {
    executor_id: text("executor_id")
      .notNull()
      .references(() => executors.id, { onDelete: "cascade" }),
    service: text("service").notNull(),
    tracker_id: text("tracker_id")
      .notNull()
      .references(() => trackers.id, { onDelete: "restrict" }),
    source_id: text("source_id")
      .notNull()
      .references(() => tracker_sources.id, { onDelete: "restrict" }),
    /** The name of a channel of the source. */
    channel: text("channel").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.executor_id, t.service] }),
    index("executor_bindings_tracker").on(t.tracker_id),
    index("executor_bindings_source").on(t.source_id),
  ],
);

/** Which version each service ran since when: a row for each change, in the order of the rows. */
export const seen_versions = sqliteTable(
  "seen_versions",
  {
    id: id(),
    executor_id: text("executor_id")
      .notNull()
      .references(() => executors.id, { onDelete: "cascade" }),
    service: text("service").notNull(),
    /** Of the image or the chart; null if there was no such service. */
    reference: text("reference"),
    digest: text("digest"),
    /** The version in words, as far as known. */
    tag: text("tag"),
    cause: text("cause", { enum: ["first_seen", "run", "rolled_back", "outside"] }).notNull(),
    /** The run that brought it. Runs are never deleted before their executor. */
    run_id: text("run_id"),
    from_at: instant("from_at").notNull(),
  },
  (t) => [index("seen_versions_service").on(t.executor_id, t.service)],
);
