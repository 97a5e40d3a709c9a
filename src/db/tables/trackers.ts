import { sql } from "drizzle-orm";
import { type AnySQLiteColumn, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { saidText } from "../said-text.ts";
import { flag, id, instant, type JsonObject, json } from "./columns.ts";
import { credentials } from "./connections.ts";

export const trackers = sqliteTable(
  "trackers",
  {
    id: id(),
    name: text("name").notNull(),
    description: text("description").notNull().default(""),
    is_enabled: flag("is_enabled").notNull().default(true),
    check_interval_minutes: integer("check_interval_minutes").notNull(),
    fetch_depth: integer("fetch_depth").notNull(),
    request_timeout_seconds: integer("request_timeout_seconds").notNull(),
    sorting: text("sorting", { enum: ["publish_time", "semantic"] }).notNull(),
    release_fallback: flag("release_fallback").notNull().default(false),
    /** Where notes come from: `{ source: "release" }`, or `{ source: "changelog", … }` with the changelog's settings. */
    release_notes: json<JsonObject>("release_notes").notNull().default({ source: "release" }),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("trackers_name").on(t.name)],
);

export const tracker_sources = sqliteTable(
  "tracker_sources",
  {
    id: id(),
    tracker_id: text("tracker_id")
      .notNull()
      .references(() => trackers.id, { onDelete: "cascade" }),
    key: text("key").notNull(),
    position: integer("position").notNull(),
    kind: text("kind").notNull(),
    config: json<JsonObject>("config").notNull(),
    credential_id: text("credential_id").references(() => credentials.id, { onDelete: "restrict" }),
    /** The host of `config`: checks per host are limited. */
    host: text("host").notNull().default(""),
    /** When the next check is due; claiming the check moves it forward. */
    next_check_at: instant("next_check_at").notNull(),
    /** A requested check, also for a disabled tracker. Cleared by the claim. */
    check_requested_at: instant("check_requested_at"),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    /** The first successful check is a silent baseline; null until then and after a configuration change. */
    baseline_at: instant("baseline_at"),
    last_checked_at: instant("last_checked_at"),
    last_success_at: instant("last_success_at"),
    last_error_code: text("last_error_code"),
    last_error_message: saidText("last_error_message"),
    /** Since when checks fail without a success. */
    failing_since: instant("failing_since"),
    last_request_count: integer("last_request_count"),
    last_byte_count: integer("last_byte_count"),
    last_duration_ms: integer("last_duration_ms"),
    upstream_total: integer("upstream_total"),
    /** The repository's new address according to upstream; null while it has not moved. */
    moved_to: text("moved_to"),
    /** Position of the rotation that re-checks older known tags. */
    rotation: integer("rotation").notNull().default(0),
  },
  (t) => [
    uniqueIndex("tracker_sources_key").on(t.tracker_id, t.key),
    index("tracker_sources_due").on(t.next_check_at),
    index("tracker_sources_requested").on(t.check_requested_at).where(sql`${t.check_requested_at} is not null`),
    index("tracker_sources_credential").on(t.credential_id),
    index("tracker_sources_host").on(t.host, t.credential_id),
  ],
);

/** What the checks of a source remember: up to megabytes, which claims and lists of sources neither read nor write. */
export const source_memos = sqliteTable("source_memos", {
  source_id: text("source_id")
    .primaryKey()
    .references(() => tracker_sources.id, { onDelete: "cascade" }),
  memo: text("memo").notNull(),
});

export const tracker_channels = sqliteTable(
  "tracker_channels",
  {
    id: id(),
    source_id: text("source_id")
      .notNull()
      .references(() => tracker_sources.id, { onDelete: "cascade" }),
    /** The name for bindings, events and people: its type, unless it has its own name. */
    name: text("name").notNull(),
    type: text("type", { enum: ["stable", "prerelease", "beta", "canary"] }).notNull(),
    position: integer("position").notNull(),
    release_type: text("release_type", { enum: ["release", "prerelease"] }),
    include_pattern: text("include_pattern").notNull().default(""),
    exclude_pattern: text("exclude_pattern").notNull().default(""),
    /** A version becomes the channel's latest only once every source of the tracker has it. */
    requires_agreement: flag("requires_agreement").notNull().default(false),
    /** As for a source: findings are announced only after a check has succeeded under these rules. */
    baseline_at: instant("baseline_at"),
    /** The last announced latest, so that each channel triggers on its own changes. */
    latest_release_id: text("latest_release_id").references((): AnySQLiteColumn => releases.id, {
      onDelete: "set null",
    }),
    latest_revision: text("latest_revision"),
    /** The highest version besides the latest; null until the first check computes it. */
    newest: json<{ tag: string; version: string }>("newest"),
  },
  (t) => [uniqueIndex("tracker_channels_name").on(t.source_id, t.name)],
);

export const releases = sqliteTable(
  "releases",
  {
    id: id(),
    source_id: text("source_id")
      .notNull()
      .references(() => tracker_sources.id, { onDelete: "cascade" }),
    version: text("version").notNull(),
    tag: text("tag").notNull(),
    stage: text("stage", { enum: ["release", "prerelease", "tag"] }).notNull(),
    revision: text("revision"),
    /** Before the last republish. */
    previous_revision: text("previous_revision"),
    published_at: instant("published_at"),
    first_observed_at: instant("first_observed_at").notNull(),
    republished_at: instant("republished_at"),
    url: text("url"),
    notes: text("notes"),
    /** Digest of the stored notes, which detects edits without reading them; null when there are none. */
    notes_digest: text("notes_digest"),
    /** Why the changelog has no notes for it; null when it has or was not read. */
    notes_error: saidText("notes_error"),
    app_version: text("app_version"),
    is_deprecated: flag("is_deprecated").notNull().default(false),
    /** For an image: the commit and version in its labels. */
    source_revision: text("source_revision"),
    labelled_version: text("labelled_version"),
    /** For an image whose manifest was read: its compressed size, and the platform that this is of. */
    size_bytes: integer("size_bytes"),
    size_platform: text("size_platform"),
  },
  (t) => [
    uniqueIndex("releases_tag").on(t.source_id, t.tag),
    index("releases_observed").on(t.source_id, t.first_observed_at),
  ],
);
