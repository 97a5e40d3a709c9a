import type { Writer } from "../db/client.ts";

/** Who does something, for the audit: filled from the request, or `system` for what the service does by itself. */
export interface Actor {
  name: string | null;
  address: string | null;
  request_id: string | null;
}

export const systemActor: Actor = { name: "system", address: null, request_id: null };

export interface AuditRecord {
  /** A closed name in snake_case: `credential_created`, `login`, `destination_blocked`. */
  event: string;
  outcome: "ok" | "failed" | "refused";
  subject?: { kind: string; id: string; name: string };
  /** Facts without secrets; what changed by field name, never by secret value. */
  detail?: Readonly<Record<string, unknown>>;
}

/** Writes one entry in the caller's transaction, so that a change and its trace are one. */
export type RecordAudit = (tx: Writer, actor: Actor, record: AuditRecord) => Promise<void>;

/** Who asks: the session behind a cookie or a Bearer token, checked against the database for this very request. */
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
