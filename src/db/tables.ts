import { sql } from "drizzle-orm";
import {
  type AnySQLiteColumn,
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { Sealed } from "../secrets/sealed.ts";
import { saidText } from "./said-text.ts";

// Every table and index. Ids are UUIDv7 text, instants integer milliseconds UTC, booleans 0/1, JSON is text.
// Names equal the fields of the API. `sealed` columns hold Fernet tokens of secrets/sealed.ts and nothing else.

const id = () => text("id").primaryKey();
const instant = (name: string) => integer(name);
const flag = (name: string) => integer(name, { mode: "boolean" });
const sealed = (name: string) => text(name).$type<Sealed>().notNull();
const json = <T>(name: string) => text(name, { mode: "json" }).$type<T>();
type JsonObject = Readonly<Record<string, unknown>>;

/** Facts about this installation: the sole administrator's id, the id of the encryption key, the key check value. */
export const installation = sqliteTable("installation", {
  key: text("key").primaryKey(),
  value: text("value").notNull(),
});

export const administrators = sqliteTable(
  "administrators",
  {
    id: id(),
    // At most one row can exist: the column has one possible value and is unique.
    singleton: integer("singleton").notNull().default(1),
    username: text("username").notNull(),
    password_hash: text("password_hash").notNull(),
    is_password_change_required: flag("is_password_change_required").notNull(),
    /** Raised to end every session and token at once. */
    session_epoch: integer("session_epoch").notNull().default(1),
    password_changed_at: instant("password_changed_at"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [
    uniqueIndex("administrators_singleton").on(t.singleton),
    check("administrators_one", sql`${t.singleton} = 1`),
  ],
);

export const sessions = sqliteTable(
  "sessions",
  {
    /** The token's `jti`. */
    id: id(),
    kind: text("kind", { enum: ["session", "api_token"] }).notNull(),
    administrator_id: text("administrator_id")
      .notNull()
      .references(() => administrators.id, { onDelete: "cascade" }),
    epoch: integer("epoch").notNull(),
    /** API tokens only: what the administrator calls it. */
    name: text("name"),
    scope: text("scope", { enum: ["read", "full"] })
      .notNull()
      .default("full"),
    /** How it was begun; a token is made in a sign-in and counts as that. */
    method: text("method", { enum: ["password", "oidc"] })
      .notNull()
      .default("password"),
    address: text("address"),
    user_agent: text("user_agent"),
    created_at: instant("created_at").notNull(),
    last_seen_at: instant("last_seen_at").notNull(),
    /** Absolute end. */
    expires_at: instant("expires_at").notNull(),
    revoked_at: instant("revoked_at"),
  },
  (t) => [index("sessions_expires_at").on(t.expires_at), index("sessions_kind").on(t.kind, t.created_at)],
);

/** At most one row can exist, as for administrators. */
export const oidc_providers = sqliteTable(
  "oidc_providers",
  {
    id: id(),
    singleton: integer("singleton").notNull().default(1),
    /** Part of the callback URL; never changed. */
    slug: text("slug").notNull(),
    display_name: text("display_name").notNull(),
    client_id: text("client_id").notNull(),
    sealed_client_secret: sealed("sealed_client_secret"),
    is_discovery_enabled: flag("is_discovery_enabled").notNull(),
    /** Compared byte by byte with `iss`. */
    issuer_url: text("issuer_url").notNull(),
    /** The endpoints: null with discovery. */
    authorization_url: text("authorization_url"),
    token_url: text("token_url"),
    jwks_url: text("jwks_url"),
    /** Kept for people; nothing asks it. */
    userinfo_url: text("userinfo_url"),
    scopes: text("scopes").notNull(),
    icon_url: text("icon_url"),
    description: text("description").notNull(),
    is_enabled: flag("is_enabled").notNull(),
    /** Raised by each change: an attempt that was begun before is refused. */
    revision: integer("revision").notNull().default(1),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [
    uniqueIndex("oidc_providers_singleton").on(t.singleton),
    check("oidc_providers_one", sql`${t.singleton} = 1`),
  ],
);

/** The one issuer and subject that may sign in as the administrator. */
export const oidc_bindings = sqliteTable(
  "oidc_bindings",
  {
    singleton: integer("singleton").primaryKey().default(1),
    provider_id: text("provider_id")
      .notNull()
      .references(() => oidc_providers.id, { onDelete: "restrict" }),
    administrator_id: text("administrator_id")
      .notNull()
      .references(() => administrators.id, { onDelete: "cascade" }),
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    bound_at: instant("bound_at").notNull(),
  },
  (t) => [check("oidc_bindings_one", sql`${t.singleton} = 1`)],
);

/** One way to the provider and back: deleted at its first use. */
export const oidc_attempts = sqliteTable(
  "oidc_attempts",
  {
    /** SHA-256 of the state, in hex: whoever reads the database cannot answer an attempt that is under way. */
    state_hash: text("state_hash").primaryKey(),
    kind: text("kind", { enum: ["login", "binding"] }).notNull(),
    provider_id: text("provider_id")
      .notNull()
      .references(() => oidc_providers.id, { onDelete: "cascade" }),
    provider_revision: integer("provider_revision").notNull(),
    /** SHA-256 of what the browser's cookie holds. */
    browser_hash: text("browser_hash").notNull(),
    /** Of a binding: the administrator's session that began it. */
    session_id: text("session_id").references(() => sessions.id, { onDelete: "cascade" }),
    /** Nonce and code verifier. */
    sealed_secrets: sealed("sealed_secrets"),
    /** Where a login leads to; a path of ours. */
    next: text("next"),
    created_at: instant("created_at").notNull(),
    expires_at: instant("expires_at").notNull(),
  },
  (t) => [index("oidc_attempts_expires_at").on(t.expires_at)],
);

export const settings = sqliteTable("settings", {
  key: text("key").primaryKey(),
  value: json<unknown>("value").notNull(),
  updated_at: instant("updated_at").notNull(),
});

export const credentials = sqliteTable(
  "credentials",
  {
    id: id(),
    name: text("name").notNull(),
    kind: text("kind").notNull(),
    description: text("description").notNull().default(""),
    sealed_secret: sealed("sealed_secret"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("credentials_name").on(t.name)],
);

export const connections = sqliteTable(
  "connections",
  {
    id: id(),
    name: text("name").notNull(),
    kind: text("kind").notNull(),
    description: text("description").notNull().default(""),
    is_enabled: flag("is_enabled").notNull().default(true),
    config: json<JsonObject>("config").notNull(),
    credential_id: text("credential_id").references(() => credentials.id, { onDelete: "restrict" }),
    /** How many runs may change something on it at once. */
    concurrent_runs: integer("concurrent_runs").notNull().default(1),
    last_checked_at: instant("last_checked_at"),
    /** What the last test of the connection found: `{ ok, version, api_version, platform, message }`. */
    last_check: json<JsonObject>("last_check"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("connections_name").on(t.name), index("connections_credential").on(t.credential_id)],
);

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
    /** Where notes come from: `{ source: "release" }`, or `{ source: "changelog", … }` with what the changelog needs. */
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
    /** The host that `config` leads to: checks of one host are bounded. */
    host: text("host").notNull().default(""),
    /** When the next check is due; pushed forward by the claim itself. */
    next_check_at: instant("next_check_at").notNull(),
    /** Somebody asked for a check; also of a tracker that is not enabled. Cleared by the claim. */
    check_requested_at: instant("check_requested_at"),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    /** The first successful check is a silent baseline; null until then and after the configuration changed. */
    baseline_at: instant("baseline_at"),
    last_checked_at: instant("last_checked_at"),
    last_success_at: instant("last_success_at"),
    last_error_code: text("last_error_code"),
    last_error_message: saidText("last_error_message"),
    /** Since when checks fail without a success between. */
    failing_since: instant("failing_since"),
    last_request_count: integer("last_request_count"),
    last_byte_count: integer("last_byte_count"),
    last_duration_ms: integer("last_duration_ms"),
    upstream_total: integer("upstream_total"),
    /** Where upstream says the repository is now; null while it is where it was. */
    moved_to: text("moved_to"),
    /** Where the rotation that re-checks older known tags stands. */
    rotation: integer("rotation").notNull().default(0),
    memo: text("memo"),
  },
  (t) => [
    uniqueIndex("tracker_sources_key").on(t.tracker_id, t.key),
    index("tracker_sources_due").on(t.next_check_at),
    index("tracker_sources_requested").on(t.check_requested_at).where(sql`${t.check_requested_at} is not null`),
    index("tracker_sources_credential").on(t.credential_id),
  ],
);

export const tracker_channels = sqliteTable(
  "tracker_channels",
  {
    id: id(),
    source_id: text("source_id")
      .notNull()
      .references(() => tracker_sources.id, { onDelete: "cascade" }),
    /** What bindings, events and people call it: its type, unless it has a name of its own. */
    name: text("name").notNull(),
    type: text("type", { enum: ["stable", "prerelease", "beta", "canary"] }).notNull(),
    position: integer("position").notNull(),
    release_type: text("release_type", { enum: ["release", "prerelease"] }),
    include_pattern: text("include_pattern").notNull().default(""),
    exclude_pattern: text("exclude_pattern").notNull().default(""),
    /** A version becomes the channel's latest only once every source of the tracker shows it. */
    requires_agreement: flag("requires_agreement").notNull().default(false),
    /** As of a source: what a check finds is announced only once a check has succeeded under these rules. */
    baseline_at: instant("baseline_at"),
    /** What this channel last called its latest, so that each channel triggers by its own change. */
    latest_release_id: text("latest_release_id").references((): AnySQLiteColumn => releases.id, {
      onDelete: "set null",
    }),
    latest_revision: text("latest_revision"),
    /** The highest version beside the latest; null until the first check that judges it. */
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
    /** Of the notes as stored, so that edited ones are noticed without reading them; null where there are none. */
    notes_digest: text("notes_digest"),
    /** Why the changelog gave no notes for it; null when it did or was not asked. */
    notes_error: saidText("notes_error"),
    app_version: text("app_version"),
    is_deprecated: flag("is_deprecated").notNull().default(false),
    /** Of an image: the commit and the version that it says it was built from. */
    source_revision: text("source_revision"),
    labelled_version: text("labelled_version"),
  },
  (t) => [
    uniqueIndex("releases_tag").on(t.source_id, t.tag),
    index("releases_observed").on(t.source_id, t.first_observed_at),
  ],
);

/** Stored answers for conditional requests; the key is the URL and the credential. */
export const response_cache = sqliteTable(
  "response_cache",
  {
    key: text("key").primaryKey(),
    etag: text("etag"),
    last_modified: text("last_modified"),
    content_type: text("content_type"),
    /** Further headers that a 304 need not repeat; lower-case names. */
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
    /** A run waits for the administrator's consent to its plan, for so many hours. */
    requires_approval: flag("requires_approval").notNull().default(false),
    approval_hours: integer("approval_hours").notNull().default(72),
    /** The new container is started before the old one is stopped. */
    start_first: flag("start_first").notNull().default(false),
    /** So long both run, once the new one is ready. */
    drain_seconds: integer("drain_seconds").notNull().default(10),
    /** What the runtime does not report of the target, as it was last looked at: one sentence each. */
    unknown_settings: json<readonly string[]>("unknown_settings").notNull().default([]),
    /** Those of them that an automatic run may lose, word for word. */
    accepted_unknown_settings: json<readonly string[]>("accepted_unknown_settings").notNull().default([]),
    /** When the trigger must be evaluated again; null when nothing is to come. */
    next_evaluation_at: instant("next_evaluation_at"),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    /** What was last seen of the target, with its time: the state shown is the observed one. */
    observed: json<JsonObject>("observed"),
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
    /** Closed code and sentence of why it ended as it did. */
    reason_code: text("reason_code"),
    reason: saidText("reason"),
    plan: json<JsonObject>("plan"),
    plan_hash: text("plan_hash"),
    /** What was consented to: a run whose target's plan has another hash is refused. */
    expected_plan_hash: text("expected_plan_hash"),
    /** Identity of what is desired over all services: an automatic run happens once for it. */
    desired_revision: text("desired_revision"),
    /** Of a pending run whose plan needs consent; `plan` and `plan_hash` are what is consented to. */
    approval: text("approval", { enum: ["awaiting", "approved"] }),
    approval_until: instant("approval_until"),
    /** What was done to each container, in order: `{ container, service, because, outcome, downtime_ms, detail }`. */
    containers: json<readonly JsonObject[]>("containers"),
    from_tag: text("from_tag"),
    from_digest: text("from_digest"),
    to_tag: text("to_tag"),
    to_digest: text("to_digest"),
    snapshot_id: text("snapshot_id"),
    ignore_window: flag("ignore_window").notNull().default(false),
    /** What runs now, as observed at the end: `desired`, `previous`, `none`, `unknown`. */
    serving: text("serving"),
    /** From the previous one's stop to the next start of anything; null when nothing was stopped. */
    downtime_ms: integer("downtime_ms"),
    /** From the same stop to the first probe that passed. */
    ready_ms: integer("ready_ms"),
    progress: json<JsonObject>("progress"),
    due_at: instant("due_at").notNull(),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    /** Set with an end state while something that the run kept aside is still to be removed. */
    cleanup_due_at: instant("cleanup_due_at"),
    /** Of a run that ended with its target down: what became of it since; see `StoredOutage`. */
    outage: json<JsonObject>("outage"),
    /** Set with an end state while the target is down: when bringing it up is tried next. */
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
    index("runs_active").on(t.due_at).where(sql`${t.state} in ('pending', 'capturing', 'updating', 'verifying')`),
    index("runs_cleanup").on(t.cleanup_due_at).where(sql`${t.cleanup_due_at} is not null`),
    index("runs_outage").on(t.outage_due_at).where(sql`${t.outage_due_at} is not null`),
  ],
);

/** The journal of a run, and what its page shows: each step is written before it is taken. */
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
    /** Every image that it needs: of a compose group there are several. */
    image_ids: json<readonly string[]>("image_ids").notNull().default([]),
    size_bytes: integer("size_bytes").notNull(),
    is_locked: flag("is_locked").notNull().default(false),
    created_at: instant("created_at").notNull(),
  },
  (t) => [index("snapshots_executor").on(t.executor_id, t.created_at)],
);

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
    // One event for each end of a run, however often the end is written.
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
    /** Host and port of the destination, which is all that is shown of it. */
    destination: text("destination").notNull(),
    /** Set when the receiver said 410 Gone; cleared by an edit. */
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

/** Append-only: nothing in the product changes or removes a row but the retention at the far end. */
export const audit_entries = sqliteTable(
  "audit_entries",
  {
    id: id(),
    /** Closed names such as `login`, `credential_updated`, `destination_blocked`. */
    event: text("event").notNull(),
    outcome: text("outcome", { enum: ["ok", "failed", "refused"] }).notNull(),
    actor: text("actor"),
    address: text("address"),
    request_id: text("request_id"),
    subject_kind: text("subject_kind"),
    subject_id: text("subject_id"),
    subject_name: text("subject_name"),
    detail: json<JsonObject>("detail").notNull(),
    at: instant("at").notNull(),
  },
  (t) => [index("audit_entries_at").on(t.at), index("audit_entries_event").on(t.event, t.at)],
);

/** What was made with an `Idempotency-Key`, for a day. */
export const idempotency_keys = sqliteTable(
  "idempotency_keys",
  {
    /** Of the administrator's id and the key. */
    key_hash: text("key_hash").primaryKey(),
    /** What was asked, what came of it, and the answer, which can hold a secret. */
    sealed_outcome: sealed("sealed_outcome"),
    created_at: instant("created_at").notNull(),
  },
  (t) => [index("idempotency_keys_created_at").on(t.created_at)],
);
