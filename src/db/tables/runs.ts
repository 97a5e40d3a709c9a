import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { saidText } from "../said-text.ts";
import { flag, id, instant, type JsonObject, json, sealed } from "./columns.ts";
import { executors } from "./executors.ts";

export const runStates = [
  "pending",
  "capturing",
  "updating",
  "verifying",
  "succeeded",
  "degraded",
  "failed",
  "skipped",
] as const;

export const runs = sqliteTable(
  "runs",
  {
    id: id(),
    executor_id: text("executor_id")
      .notNull()
      .references(() => executors.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: ["update", "rollback"] }).notNull(),
    state: text("state", { enum: runStates }).notNull(),
    trigger: text("trigger", { enum: ["manual", "immediate", "window"] }).notNull(),
    /** 1, or 2 for the one automatic retry after a transport fault. */
    attempt: integer("attempt").notNull().default(1),
    /** Closed code and message: why it ended as it did. */
    reason_code: text("reason_code"),
    reason: saidText("reason"),
    plan: json<JsonObject>("plan"),
    plan_hash: text("plan_hash"),
    /** What was approved: a run is refused when the target's plan has another hash. */
    expected_plan_hash: text("expected_plan_hash"),
    /** Identifies the desired state of all services: an automatic run happens once for it. */
    desired_revision: text("desired_revision"),
    /** For a pending run that needs approval; `plan` and `plan_hash` are what is approved. */
    approval: text("approval", { enum: ["awaiting", "approved"] }),
    approval_until: instant("approval_until"),
    /** What happened to each container, in order: `{ container, service, because, outcome, downtime_ms, detail }`. */
    containers: json<readonly JsonObject[]>("containers"),
    from_tag: text("from_tag"),
    from_digest: text("from_digest"),
    to_tag: text("to_tag"),
    to_digest: text("to_digest"),
    snapshot_id: text("snapshot_id"),
    ignore_window: flag("ignore_window").notNull().default(false),
    /** What was running at the end: `desired`, `previous`, `none`, `unknown`. */
    serving: text("serving"),
    /** From stopping the previous one to the next start of anything; null when nothing was stopped. */
    downtime_ms: integer("downtime_ms"),
    /** From the same stop to the first successful probe. */
    ready_ms: integer("ready_ms"),
    progress: json<JsonObject>("progress"),
    due_at: instant("due_at").notNull(),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    /** Set with an end state while the run's backups remain to be removed. */
    cleanup_due_at: instant("cleanup_due_at"),
    /** For a run that left its target down: what happened since; see `StoredOutage`. */
    outage: json<JsonObject>("outage"),
    /** Set with an end state while the target is down: when the next attempt to start it is due. */
    outage_due_at: instant("outage_due_at"),
    created_at: instant("created_at").notNull(),
    started_at: instant("started_at"),
    ended_at: instant("ended_at"),
  },
  (t) => [
    uniqueIndex("runs_one_active")
      .on(t.executor_id)
      .where(sql`${t.state} in ('pending', 'capturing', 'updating', 'verifying')`),
    uniqueIndex("runs_once_per_revision")
      .on(t.executor_id, t.desired_revision, t.attempt)
      .where(sql`${t.trigger} <> 'manual' and ${t.kind} = 'update'`),
    index("runs_executor").on(t.executor_id),
    index("runs_created").on(t.created_at),
    /** For the counts beside the filters of the list: a run itself is many times as large. */
    index("runs_counted").on(t.state, t.trigger),
    index("runs_active").on(t.due_at).where(sql`${t.state} in ('pending', 'capturing', 'updating', 'verifying')`),
    index("runs_cleanup").on(t.cleanup_due_at).where(sql`${t.cleanup_due_at} is not null`),
    index("runs_outage").on(t.outage_due_at).where(sql`${t.outage_due_at} is not null`),
  ],
);

/** The journal of a run, shown on its page: each step is written before it is taken. */
export const run_steps = sqliteTable(
  "run_steps",
  {
    run_id: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    seq: integer("seq").notNull(),
    step: text("step").notNull(),
    phase: text("phase", { enum: ["begin", "finish", "fail"] }).notNull(),
    facts: json<JsonObject>("facts").notNull(),
    at: instant("at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.run_id, t.seq] })],
);

/** What failed containers wrote last; one row for each container, the latest. */
export const run_logs = sqliteTable(
  "run_logs",
  {
    id: id(),
    run_id: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    /** Identifies the container within the run's target. */
    key: text("key").notNull(),
    /** Blank for a runtime without pods. */
    pod: text("pod").notNull(),
    container: text("container").notNull(),
    /** Written before its last restart. */
    is_previous: flag("is_previous").notNull(),
    /** Lines as JSON; none if it wrote nothing or could not be read. */
    sealed_lines: sealed("sealed_lines"),
    /** Why it could not be read. */
    why: saidText("why"),
    at: instant("at").notNull(),
  },
  (t) => [uniqueIndex("run_logs_of_run").on(t.run_id, t.key)],
);

export const snapshots = sqliteTable(
  "snapshots",
  {
    id: id(),
    executor_id: text("executor_id")
      .notNull()
      .references(() => executors.id, { onDelete: "cascade" }),
    run_id: text("run_id"),
    sealed_content: sealed("sealed_content"),
    reference: text("reference").notNull(),
    digest: text("digest"),
    image_id: text("image_id").notNull(),
    /** Every image it needs; a compose group has several. */
    image_ids: json<readonly string[]>("image_ids").notNull().default([]),
    size_bytes: integer("size_bytes").notNull(),
    is_locked: flag("is_locked").notNull().default(false),
    created_at: instant("created_at").notNull(),
  },
  (t) => [index("snapshots_executor").on(t.executor_id, t.created_at)],
);
