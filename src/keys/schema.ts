import * as v from "valibot";
import { CurrentPassword } from "../auth/schema.ts";
import { BackupView } from "../backups/schema.ts";
import { AppError } from "../errors.ts";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import { say } from "../messages/message.ts";
import { MessageSchema } from "../messages/schema.ts";

const managers = ["SESSION_KEY", "ENCRYPTION_KEY", "KEYS_FILE"] as const;

export const SecurityKeyView = v.object({
  id: v.pipe(v.string(), v.description("The first 64 bits of the key's SHA-256; error messages use it to name keys")),
  fingerprint: v.pipe(v.string(), v.description("The same ID, formatted for comparing")),
  since: v.pipe(NullableInstant, v.description("When this key came into use; null if unknown")),
  managed_by: v.pipe(
    v.nullable(v.picklist(managers)),
    v.description("The environment variable with this key; null if it is in Tidemark's key file"),
  ),
  rotation_refusal: v.pipe(
    v.nullable(v.string()),
    v.description("Why this key cannot be rotated here; null if it can"),
  ),
  rotation_refusal_data: v.nullable(MessageSchema),
});
export type SecurityKeyView = v.InferOutput<typeof SecurityKeyView>;

export const SecurityKeysView = v.object({ session: SecurityKeyView, encryption: SecurityKeyView });
export type SecurityKeysView = v.InferOutput<typeof SecurityKeysView>;

/** Both rotations ask for the password again. */
export const RotationInput = v.strictObject({ current_password: CurrentPassword });

export const SessionRotationView = v.object({
  key: SecurityKeyView,
  rotated_at: Instant,
  ended_sessions: v.pipe(v.number(), v.description("Ended sessions, including this one")),
  ended_api_tokens: v.pipe(v.number(), v.description("Revoked API tokens; add new ones")),
});
export type SessionRotationView = v.InferOutput<typeof SessionRotationView>;

export const EncryptionRotationView = v.object({
  key: SecurityKeyView,
  previous_id: v.pipe(v.string(), v.description("ID of the previous key, which now exists only in the backup")),
  rotated_at: Instant,
  reencrypted_values: v.number(),
  backup: BackupView,
});
export type EncryptionRotationView = v.InferOutput<typeof EncryptionRotationView>;

/** The place of a secret that no known key opens. */
export interface UnreadableSecret {
  table: string;
  id: string;
  column: string;
  name: string | null;
  /** The run or executor that it belongs to. */
  owner: string | null;
}

/** Secrets that no known key opens; nothing was changed. The message names the first place and reveals none of its content. */
export class CorruptSecretError extends AppError {
  readonly places: readonly [UnreadableSecret, ...UnreadableSecret[]];

  constructor(first: UnreadableSecret, others: readonly UnreadableSecret[] = []) {
    const place = { table: first.table, row: first.id, column: first.column };
    const said =
      others.length === 0
        ? say("keys.corrupt_secret", place)
        : say("keys.corrupt_secrets", { ...place, count: others.length + 1 });
    super("corrupt_secret", 409, said);
    this.name = "CorruptSecretError";
    this.places = [first, ...others];
  }
}
