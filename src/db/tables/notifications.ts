import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { saidText } from "../said-text.ts";
import { flag, id, instant, type JsonObject, json, sealed } from "./columns.ts";

export const events = sqliteTable(
  "events",
  {
    id: id(),
    kind: text("kind").notNull(),
    tracker_id: text("tracker_id"),
    executor_id: text("executor_id"),
    run_id: text("run_id"),
    facts: json<JsonObject>("facts").notNull(),
    created_at: instant("created_at").notNull(),
  },
  (t) => [
    index("events_created").on(t.created_at),
    index("events_tracker").on(t.tracker_id, t.created_at),
    // One event per end of a run, however often the end is written.
    uniqueIndex("events_run").on(t.run_id).where(sql`${t.run_id} is not null`),
  ],
);

export const notifiers = sqliteTable(
  "notifiers",
  {
    id: id(),
    name: text("name").notNull(),
    kind: text("kind").notNull(),
    description: text("description").notNull().default(""),
    is_enabled: flag("is_enabled").notNull().default(true),
    language: text("language", { enum: ["en", "zh"] }).notNull(),
    trigger_events: json<readonly string[]>("trigger_events").notNull(),
    sealed_config: sealed("sealed_config"),
    /** Host and port of the destination: the only part that is shown. */
    destination: text("destination").notNull(),
    /** Set when the receiver returned 410 Gone; cleared by an edit. */
    stopped_at: instant("stopped_at"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("notifiers_name").on(t.name)],
);

/** The outbox: one row per event and notifier, written in the transaction of the event. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    id: id(),
    notifier_id: text("notifier_id")
      .notNull()
      .references(() => notifiers.id, { onDelete: "cascade" }),
    /** Null for a test message. */
    event_id: text("event_id").references(() => events.id, { onDelete: "cascade" }),
    event: text("event").notNull(),
    body: json<JsonObject>("body").notNull(),
    state: text("state", { enum: ["pending", "delivered", "failed"] }).notNull(),
    attempt_count: integer("attempt_count").notNull().default(0),
    next_attempt_at: instant("next_attempt_at"),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    last_status: integer("last_status"),
    last_error: saidText("last_error"),
    created_at: instant("created_at").notNull(),
    ended_at: instant("ended_at"),
  },
  (t) => [
    index("deliveries_due").on(t.next_attempt_at).where(sql`${t.state} = 'pending'`),
    index("deliveries_notifier").on(t.notifier_id, t.created_at),
    uniqueIndex("deliveries_once").on(t.notifier_id, t.event_id),
  ],
);

/**
 * What does not work at the moment: a connection, a host or a credential, from the failure that showed it to its end. Notifiers learn of it
 * once it has lasted.
 */
export const outage_notices = sqliteTable(
  "outage_notices",
  {
    id: id(),
    cause: text("cause", { enum: ["connection", "upstream", "credential"] }).notNull(),
    /** The id of the connection, the host, or the id of the credential with the host. */
    subject: text("subject").notNull(),
    /** For how long it was seen failing, without the time when no process ran. */
    lasted_ms: integer("lasted_ms").notNull(),
    /** Counted time. */
    counted_since: instant("counted_since").notNull(),
    /** What its event said; null until there is one. */
    outage: json<JsonObject>("outage"),
  },
  (t) => [uniqueIndex("outage_notices_subject").on(t.cause, t.subject)],
);

export const delivery_attempts = sqliteTable(
  "delivery_attempts",
  {
    delivery_id: text("delivery_id")
      .notNull()
      .references(() => deliveries.id, { onDelete: "cascade" }),
    attempt: integer("attempt").notNull(),
    status: integer("status"),
    error: saidText("error"),
    duration_ms: integer("duration_ms").notNull(),
    at: instant("at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.delivery_id, t.attempt] })],
);
