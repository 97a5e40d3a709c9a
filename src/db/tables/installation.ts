import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id, instant, type JsonObject, json, sealed } from "./columns.ts";

/** Facts about this installation: the sole administrator's id, the id of the encryption key, the key check value. */
export const installation = sqliteTable("installation", {
  key: text("key").primaryKey(),
  value: text("value").notNull(),
});

export const settings = sqliteTable("settings", {
  key: text("key").primaryKey(),
  value: json<unknown>("value").notNull(),
  updated_at: instant("updated_at").notNull(),
});

/** Append-only: nothing in the product changes or removes a row, except retention for the oldest. */
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
  (t) => [
    index("audit_entries_at").on(t.at),
    index("audit_entries_event").on(t.event, t.at),
    // Counts both without reading an entry.
    index("audit_entries_outcome").on(t.outcome, t.event),
  ],
);

/** Results of requests with an `Idempotency-Key`, for a day. */
export const idempotency_keys = sqliteTable(
  "idempotency_keys",
  {
    /** Of the administrator's id and the key. */
    key_hash: text("key_hash").primaryKey(),
    /** The request, its result and the response, which can hold a secret. */
    sealed_outcome: sealed("sealed_outcome"),
    created_at: instant("created_at").notNull(),
  },
  (t) => [index("idempotency_keys_created_at").on(t.created_at)],
);
