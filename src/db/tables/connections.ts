import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
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
    /** Connections with the same place lead to the same runtime; null when unknown. */
    place: text("place"),
    credential_id: text("credential_id").references(() => credentials.id, { onDelete: "restrict" }),
    /** How many runs may change it at once. */
    concurrent_runs: integer("concurrent_runs").notNull().default(1),
    last_checked_at: instant("last_checked_at"),
    /** Result of the last connection test: `{ ok, version, api_version, platform, message }`. */
    last_check: json<JsonObject>("last_check"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("connections_name").on(t.name), index("connections_credential").on(t.credential_id)],
);
