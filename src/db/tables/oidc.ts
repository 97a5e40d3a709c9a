import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { administrators, sessions } from "./auth.ts";
import { flag, id, instant, sealed } from "./columns.ts";

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
    /** For display; never requested. */
    userinfo_url: text("userinfo_url"),
    scopes: text("scopes").notNull(),
    icon_url: text("icon_url"),
    description: text("description").notNull(),
    is_enabled: flag("is_enabled").notNull(),
    /** Incremented by each change: attempts that began before are refused. */
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

/** One redirect to the provider and back: deleted at its first use. */
export const oidc_attempts = sqliteTable(
  "oidc_attempts",
  {
    /** SHA-256 of the state, in hex: reading the database is not enough to complete an attempt. */
    state_hash: text("state_hash").primaryKey(),
    kind: text("kind", { enum: ["login", "binding"] }).notNull(),
    provider_id: text("provider_id")
      .notNull()
      .references(() => oidc_providers.id, { onDelete: "cascade" }),
    provider_revision: integer("provider_revision").notNull(),
    /** SHA-256 of what the browser's cookie holds. */
    browser_hash: text("browser_hash").notNull(),
    /** For a binding: the administrator's session that began it. */
    session_id: text("session_id").references(() => sessions.id, { onDelete: "cascade" }),
    /** Nonce and code verifier. */
    sealed_secrets: sealed("sealed_secrets"),
    /** Where a login leads; a local path. */
    next: text("next"),
    created_at: instant("created_at").notNull(),
    expires_at: instant("expires_at").notNull(),
  },
  (t) => [index("oidc_attempts_expires_at").on(t.expires_at)],
);
