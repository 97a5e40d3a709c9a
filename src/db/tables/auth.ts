import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { flag, id, instant } from "./columns.ts";

export const administrators = sqliteTable(
  "administrators",
  {
    id: id(),
    // At most one row can exist: the column has one possible value and is unique.
    singleton: integer("singleton").notNull().default(1),
    username: text("username").notNull(),
    password_hash: text("password_hash").notNull(),
    is_password_change_required: flag("is_password_change_required").notNull(),
    /** Incremented to end every session and token at once. */
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
    /** API tokens only. */
    name: text("name"),
    scope: text("scope", { enum: ["read", "full"] })
      .notNull()
      .default("full"),
    /** How the session began; a token counts as the sign-in that created it. */
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
