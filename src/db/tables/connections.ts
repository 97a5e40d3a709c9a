import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { saidText } from "../said-text.ts";
import { flag, id, instant, type JsonObject, json, sealed } from "./columns.ts";

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
    /** Where the configuration leads. Connections with the same place lead to the same runtime; null when unknown. */
    place: text("place"),
    /** The identity that the runtime reports about its place, which connections of the same place share; null if unknown. */
    place_id: text("place_id"),
    /** Null when it is to be asked at the next look. */
    identified_at: instant("identified_at"),
    /** Whether the same configuration was found to lead to another place since it was saved. */
    has_moved: flag("has_moved").notNull().default(false),
    credential_id: text("credential_id").references(() => credentials.id, { onDelete: "restrict" }),
    /** How many runs may change it at once. */
    concurrent_runs: integer("concurrent_runs").notNull().default(1),
    last_checked_at: instant("last_checked_at"),
    /** Result of the last connection test: `{ ok, version, api_version, platform, message }`. */
    last_check: json<JsonObject>("last_check"),
    /** When the runtime last responded to anything. */
    seen_at: instant("seen_at"),
    /** Looks that failed since then, and when the first of them did. */
    missed_looks: integer("missed_looks").notNull().default(0),
    missed_since: instant("missed_since"),
    fault_code: text("fault_code"),
    fault: saidText("fault"),
    /** Null before the first look. */
    next_look_at: instant("next_look_at"),
    lease_owner: text("lease_owner"),
    lease_until: instant("lease_until"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("connections_name").on(t.name), index("connections_credential").on(t.credential_id)],
);

/** Targets that are no longer offered for adoption. */
export const ignored_targets = sqliteTable(
  "ignored_targets",
  {
    id: id(),
    connection_id: text("connection_id")
      .notNull()
      .references(() => connections.id, { onDelete: "cascade" }),
    kind: text("kind").notNull(),
    target_id: text("target_id").notNull(),
    /** As it was shown, in case that the target is gone. */
    name: text("name").notNull(),
    created_at: instant("created_at").notNull(),
  },
  (t) => [uniqueIndex("ignored_targets_target").on(t.connection_id, t.kind, t.target_id)],
);
