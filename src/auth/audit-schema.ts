import * as v from "valibot";
import type { Writer } from "../db/client.ts";
import { Instant, InstantText } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";
import type { Actor } from "./schema.ts";

/** Everything that the audit records. */
export const auditEvents = [
  "account_renamed",
  "administrator_created",
  "api_token_created",
  "api_token_revoked",
  "backup_created",
  "backup_deleted",
  "connection_checked",
  "connection_created",
  "connection_deleted",
  "connection_updated",
  "credential_created",
  "credential_deleted",
  "credential_updated",
  "csrf_refused",
  "database_restored",
  "destination_blocked",
  "encryption_key_rotated",
  "executor_created",
  "executor_deleted",
  "executor_held",
  "executor_resumed",
  "executor_snooze_ended",
  "executor_snoozed",
  "executor_updated",
  "failure_dismissed",
  "failure_undismissed",
  "image_removed",
  "login",
  "logout",
  "logs_read",
  "notifier_created",
  "notifier_deleted",
  "notifier_tested",
  "notifier_updated",
  "oidc_binding_started",
  "oidc_bound",
  "oidc_provider_created",
  "oidc_provider_deleted",
  "oidc_provider_updated",
  "oidc_unbound",
  "other_sessions_ended",
  "password_changed",
  "password_reset",
  "rollback_started",
  "run_approval_expired",
  "run_approved",
  "run_log_deleted",
  "run_refused",
  "run_started",
  "session_ended",
  "session_key_rotated",
  "settings_updated",
  "snapshot_deleted",
  "snapshot_exported",
  "snapshot_locked",
  "snapshot_unlocked",
  "target_unignored",
  "targets_ignored",
  "tracker_checked",
  "tracker_created",
  "tracker_deleted",
  "tracker_updated",
  "version_skipped",
  "version_unskipped",
] as const;
export type AuditEvent = (typeof auditEvents)[number];

/** What entries contain in addition to their subject. */
const auditFacts = [
  "api_tokens",
  "backup",
  "begun_at",
  "clock",
  "code",
  "column",
  "connection",
  "container",
  "destination",
  "ended",
  "error",
  "executor",
  "expires_in_days",
  "fields",
  "format",
  "found_at",
  "from",
  "has_keys",
  "has_plan_hash",
  "id",
  "image",
  "issuer",
  "kind",
  "left_out",
  "method",
  "notifier",
  "path",
  "plan_hash",
  "provider",
  "provider_error",
  "reason",
  "references",
  "resumed",
  "run",
  "scope",
  "secret_members",
  "sessions",
  "size_bytes",
  "slug",
  "snapshot_id",
  "sources",
  "subject",
  "table",
  "target",
  "targets",
  "to",
  "trigger",
  "until",
  "values",
  "version",
  "via",
  "with_secrets",
] as const;
export type AuditFact = (typeof auditFacts)[number];

/** Earlier versions may have recorded others. */
export function isAuditEvent(event: string): event is AuditEvent {
  return auditEvents.some((known) => known === event);
}

export interface AuditRecord {
  event: AuditEvent;
  outcome: "ok" | "failed" | "refused";
  subject?: { kind: string; id: string; name: string };
  /** Facts without secrets: changes by field name, never by secret value. A reason is a `Message`. */
  detail?: Readonly<Partial<Record<AuditFact, unknown>>>;
}

/** Writes one entry in the caller's transaction, so that a change and its trace are one. */
export type RecordAudit = (tx: Writer, actor: Actor, record: AuditRecord) => Promise<void>;

const auditOutcomes = ["ok", "failed", "refused"] as const;

export const AuditEntryView = v.object({
  id: v.string(),
  at: Instant,
  event: v.string(),
  outcome: v.picklist(auditOutcomes),
  actor: v.nullable(v.string()),
  address: v.nullable(v.string()),
  request_id: v.nullable(v.string()),
  subject: v.nullable(v.object({ kind: v.string(), id: v.nullable(v.string()), name: v.nullable(v.string()) })),
  detail: v.record(v.string(), v.unknown()),
});
export type AuditEntryView = v.InferOutput<typeof AuditEntryView>;

const filterText = (description: string) => v.pipe(v.string(), v.maxLength(200), v.description(description));

export const auditList: ListShape = {
  sorts: ["-time", "subject", "actor"],
  filters: { event: auditEvents, outcome: auditOutcomes },
  texts: {
    actor: filterText("The name of who did it; `system` for the service itself"),
    subject: filterText("The id of what it was about, or a part of its name"),
    address: filterText("The address it came from, or how that begins"),
    since: v.pipe(InstantText, v.description("Not before this instant")),
    until: v.pipe(InstantText, v.description("Before this instant")),
  },
  searched: "Part of the subject, the actor or the address",
};
