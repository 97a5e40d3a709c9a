import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { instant, type JsonObject, json } from "./columns.ts";

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
