import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { saidText } from "../said-text.ts";
import { id, instant, type JsonObject, json } from "./columns.ts";

/** Stored responses for conditional requests; the key is the URL and the credential. */
export const response_cache = sqliteTable(
  "response_cache",
  {
    key: text("key").primaryKey(),
    etag: text("etag"),
    last_modified: text("last_modified"),
    content_type: text("content_type"),
    /** Further headers that a 304 may omit; lower-case names. */
    headers: json<Readonly<Record<string, string>>>("headers").notNull().default({}),
    size_bytes: integer("size_bytes").notNull().default(0),
    used_at: instant("used_at").notNull(),
    body: text("body").notNull(),
  },
  (t) => [index("response_cache_used_at").on(t.used_at, t.size_bytes)],
);

/** The rate ledger: what each host allows each credential, from its own headers. */
export const rate_limits = sqliteTable("rate_limits", {
  /** `host credential_id`, or `host -` without a credential. */
  key: text("key").primaryKey(),
  state: json<JsonObject>("state").notNull(),
  updated_at: instant("updated_at").notNull(),
});

/** A time in which a host did not respond to checks; its sources wait together. At most one per host is ongoing. */
export const upstream_outages = sqliteTable(
  "upstream_outages",
  {
    id: id(),
    /** With its port, as in `tracker_sources.host`. */
    host: text("host").notNull(),
    /** Why the latest counted attempt failed. */
    error_code: text("error_code").notNull(),
    error_message: saidText("error_message").notNull(),
    since: instant("since").notNull(),
    /** The first failed check and every failed attempt after it. */
    failures: integer("failures").notNull(),
    /** The pause after the last failure. */
    pause_ms: integer("pause_ms").notNull(),
    /** When the next attempt is due; while one runs, when its lease ends. */
    next_due_at: instant("next_due_at").notNull(),
    /** The lease owner of the check that is the attempt. */
    probe_owner: text("probe_owner"),
    ended_at: instant("ended_at"),
  },
  (t) => [
    uniqueIndex("upstream_outages_open").on(t.host).where(sql`${t.ended_at} is null`),
    index("upstream_outages_ended").on(t.ended_at),
  ],
);

/** Requests to each host in each hour, for charts. */
export const check_hours = sqliteTable(
  "check_hours",
  {
    /** The hour's first instant, UTC. */
    starts_at: instant("starts_at").notNull(),
    host: text("host").notNull(),
    succeeded: integer("succeeded").notNull().default(0),
    failed: integer("failed").notNull().default(0),
    requests: integer("requests").notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.starts_at, t.host] })],
);
