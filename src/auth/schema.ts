import * as v from "valibot";
import { Instant, Name, NullableInstant } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";
import { issue } from "../messages/message.ts";
import type { AuditRecord } from "./audit-schema.ts";

/** Who acts, for the audit: filled from the request, or `system` for the service itself. */
export interface Actor {
  name: string | null;
  address: string | null;
  request_id: string | null;
}

export const systemActor = { name: "system", address: null, request_id: null } as const satisfies Actor;

export function subjectOf(administrator: { id: string; username: string }): NonNullable<AuditRecord["subject"]> {
  return { kind: "administrator", id: administrator.id, name: administrator.username };
}

/** The session behind a cookie or a Bearer token, checked against the database for this request. */
export interface Session {
  /** The token's `jti`. */
  id: string;
  kind: "session" | "api_token";
  scope: "read" | "full";
  via: "bearer" | "cookie";
  administrator_id: string;
  username: string;
  is_password_change_required: boolean;
  expires_at: number;
}

const Password = v.pipe(v.string(), v.minLength(1), v.metadata({ secret: true }));

/** The field of every body that asks for the password again: see `ConfirmPassword`. */
export const CurrentPassword = v.pipe(Password, v.title("Current password"));

export const SignInInput = v.strictObject({
  username: v.pipe(v.string(), v.minLength(1), v.title("User name")),
  password: v.pipe(Password, v.title("Password")),
});

/** The responses to signing in and changing the password: the only ones that hold a session's token. */
export const SignInView = v.object({
  token: v.string(),
  expires_at: Instant,
  password_change_required: v.boolean(),
});
export type SignInView = v.InferOutput<typeof SignInView>;

export const SessionView = v.object({
  id: v.string(),
  kind: v.picklist(["session", "api_token"]),
  scope: v.picklist(["read", "full"]),
  username: v.string(),
  password_change_required: v.boolean(),
  expires_at: Instant,
});
export type SessionView = v.InferOutput<typeof SessionView>;

const signInMethods = ["password", "oidc"] as const;

/** A sign-in as the administrator recognises it; never its token. */
export const SignInSessionView = v.object({
  id: v.string(),
  is_current: v.pipe(v.boolean(), v.description("Whether this request uses the session")),
  method: v.picklist(signInMethods),
  address: v.pipe(v.nullable(v.string()), v.description("Address from which it was started")),
  browser: v.pipe(v.nullable(v.string()), v.description("As reported by the browser, unverified")),
  system: v.nullable(v.string()),
  user_agent: v.nullable(v.string()),
  created_at: Instant,
  last_seen_at: v.pipe(Instant, v.description("To the minute")),
  expires_at: v.pipe(Instant, v.description("Ends then at the latest, or after 24 hours without use")),
});
export type SignInSessionView = v.InferOutput<typeof SignInSessionView>;

export const sessionList: ListShape = {
  sorts: ["-since", "seen", "address"],
  filters: { method: signInMethods },
  searched: "Part of the address or of what the browser reports",
};

export const EndedSessionsView = v.object({ ended: v.pipe(v.number(), v.description("Number of ended sessions")) });
export type EndedSessionsView = v.InferOutput<typeof EndedSessionsView>;

/** `secrets/password.ts` has the rules of the new password and takes the text exactly as it is. */
export const PasswordChangeInput = v.strictObject({
  current_password: CurrentPassword,
  new_password: v.pipe(Password, v.title("New password"), v.description("12 to 256 characters; any characters")),
});

export const Username = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(64),
  v.regex(/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._@+-]*$/u, issue("auth.username_form")),
  v.title("User name"),
);

export const AccountPatch = v.strictObject({ username: v.optional(Username) });

export const AccountView = v.object({
  id: v.pipe(v.string(), v.description("Stable: renaming does not change it")),
  username: v.string(),
  password_change_required: v.boolean(),
  password_changed_at: NullableInstant,
  created_at: Instant,
  updated_at: Instant,
});
export type AccountView = v.InferOutput<typeof AccountView>;

export const longestTokenDays = 365;

const tokenScopes = ["read", "full"] as const;

export const ApiTokenInput = v.strictObject({
  name: Name,
  scope: v.optional(v.pipe(v.picklist(tokenScopes), v.title("Scope")), "full"),
  expires_in_days: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(longestTokenDays), v.title("Expires in (days)")),
    90,
  ),
  current_password: CurrentPassword,
});

export const ApiTokenView = v.object({
  id: v.string(),
  name: v.string(),
  scope: v.picklist(tokenScopes),
  created_at: Instant,
  last_used_at: v.pipe(NullableInstant, v.description("Precise to the minute; null before the first use")),
  last_used_address: v.nullable(v.string()),
  expires_at: Instant,
});
export type ApiTokenView = v.InferOutput<typeof ApiTokenView>;

export const apiTokenList: ListShape = {
  sorts: ["created", "name", "used", "expires"],
  filters: { scope: tokenScopes, use: ["used", "unused"] },
  searched: "Part of the name or of the address that used it last",
};

/** A new API token: the only response that holds its text. */
export const CreatedApiTokenView = v.object({ ...ApiTokenView.entries, token: v.string() });
export type CreatedApiTokenView = v.InferOutput<typeof CreatedApiTokenView>;
