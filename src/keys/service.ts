import { randomBytes } from "node:crypto";
import type { AuditEvent } from "../auth/audit-schema.ts";
import type { Actor, Session } from "../auth/schema.ts";
import type { AuthService, ConfirmPassword } from "../auth/service.ts";
import type { BackupService } from "../backups/service.ts";
import type { Writer } from "../db/client.ts";
import { endEverySession } from "../db/end-sessions.ts";
import {
  findInstallationFact,
  type InstallationFact,
  noteSessionKey,
  sessionKeysSeen,
  storeInstallationFact,
} from "../db/installation.ts";
import { isDiskFull, withoutRoom } from "../durable-files.ts";
import { AppError, conflict, saidBy, unauthorized } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { inEnglish, type Message, say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { beginChange } from "../request-scope.ts";
import type { ApprovalTokens } from "../secrets/approval-tokens.ts";
import { generateFernetKey } from "../secrets/fernet.ts";
import { fingerprint, KeyError, type Keys, keyId, type OnKeyFileStep, replaceStoredKeys } from "../secrets/keys.ts";
import type { RotatingSealer } from "../secrets/sealed.ts";
import type { SessionTokens } from "../secrets/tokens.ts";
import { moveSecrets, rotationRecord } from "./encryption-rotation.ts";
import { assertAllReadable } from "./reencrypt.ts";
import { rotationSteps } from "./rotation-steps.ts";
import {
  CorruptSecretError,
  type EncryptionRotationView,
  RotationInput,
  type SecurityKeysView,
  type SecurityKeyView,
  type SessionRotationView,
} from "./schema.ts";

const sessionKeyBytes = 32;
/** Keys of earlier rotations that still open what this process holds in memory; the key file no longer has them. */
const maximumFormerKeys = 8;

export interface SecurityKeyServiceOptions extends Pick<Parts, "db" | "clock" | "log" | "audit"> {
  keys: Keys;
  data_dir: string;
  /** Which environment variables provide keys. */
  environment: { session_key: boolean; encryption_key: boolean; keys_file: boolean };
  sealer: RotatingSealer;
  /** Everything derived from the session key; each switches at once. */
  session_key_users: readonly Pick<SessionTokens | ApprovalTokens, "useKey">[];
  backups: Pick<BackupService, "createBeforeRotation">;
  confirmPassword: ConfirmPassword;
  /** Whether the caller's session is still valid when its turn comes. */
  holds: AuthService["holds"];
  /** Removes expired rows, so that none of them prevents a rotation. */
  removeExpired: (tx: Writer) => Promise<void>;
  /** Receives every new key: the redactor's `register`. */
  onNewSecret: (secret: string) => void;
}

/** A process not seen for twice this time is considered gone. */
const compareEveryMs = 30_000;

type KeyName = "session" | "encryption";

/** The session key and the encryption key: their state, and rotation without downtime. */
export function securityKeyService(options: SecurityKeyServiceOptions) {
  const { db, clock, log, audit, environment, sealer, data_dir } = options;
  const steps = rotationSteps(log);
  let sessionKey = options.keys.session;
  let encryption = options.keys.encryption.primary;
  let former: readonly string[] = options.keys.encryption.previous ?? [];
  let isBusy = false;
  let comparedAt = Number.NEGATIVE_INFINITY;
  const toldKeys = new Set<string>();
  /** The key file has two keys, and secrets may be under either. */
  let mustRestart = false;

  const managerOf = (name: KeyName): SecurityKeyView["managed_by"] => {
    if (name === "session" && environment.session_key) return "SESSION_KEY";
    if (name === "encryption" && environment.encryption_key) return "ENCRYPTION_KEY";
    return environment.keys_file ? "KEYS_FILE" : null;
  };
  const refusalOf = (name: KeyName): Message | null => {
    const manager = managerOf(name);
    if (manager !== null) return say(`keys.${name}_key_in_${manager === "KEYS_FILE" ? "file" : "environment"}`);
    if (name === "session") return null;
    if (db.rewriteTexts === null) return say("keys.remote_database");
    return mustRestart ? say("keys.rotation_unfinished") : null;
  };
  const view = async (name: KeyName): Promise<SecurityKeyView> => {
    const key = name === "session" ? sessionKey : encryption;
    const fact = async (which: InstallationFact) => await findInstallationFact(db.read, which);
    const isRecorded = (await fact(`${name}_key_id`)) === keyId(key);
    const since = isRecorded ? await fact(`${name}_key_since`) : null;
    const refusal = refusalOf(name);
    return {
      id: keyId(key),
      fingerprint: fingerprint(key),
      since: since === null ? null : Number(since),
      managed_by: managerOf(name),
      rotation_refusal: refusal === null ? null : inEnglish(refusal),
      rotation_refusal_data: refusal,
    };
  };

  /** Records whatever failed after the right password. A failure to record is logged; the caller gets the original one. */
  const recordFailure = async (actor: Actor, event: AuditEvent, error: unknown): Promise<void> => {
    const told = wordsFor(error);
    const reason = told instanceof AppError ? told.code : "internal_error";
    const { table, id, column } = error instanceof CorruptSecretError ? error.places[0] : {};
    const detail = { reason, ...(table === undefined ? {} : { table, id, column }) };
    try {
      await db.write((tx) => audit(tx, actor, { event, outcome: "failed", detail }));
    } catch (cause) {
      log.error("The failed rotation of a key could not be written to the audit", { event, reason, error: cause });
    }
  };

  /** Runs one rotation at a time, of a key that is ours, after the password check. */
  const rotation = async <T>(
    name: KeyName,
    [actor, session, input]: readonly [Actor, Session, unknown],
    perform: () => Promise<T>,
  ): Promise<T> => {
    const { current_password } = parseInput(RotationInput, input);
    const event = `${name}_key_rotated` as const;
    const refusal = refusalOf(name);
    if (refusal !== null) {
      await db.write((tx) => audit(tx, actor, { event, outcome: "refused", detail: { reason: refusal } }));
      throw new AppError("rotation_refused", 409, refusal);
    }
    await options.confirmPassword(actor, session, current_password, event);
    if (isBusy) throw conflict(say("keys.rotation_in_progress"));
    isBusy = true;
    try {
      // A parallel rotation may have ended the session.
      if (!(await options.holds(session))) throw unauthorized();
      return await perform().catch(async (error: unknown) => {
        await recordFailure(actor, event, error);
        throw wordsFor(error);
      });
    } finally {
      isBusy = false;
    }
  };

  const rotateSession = async (actor: Actor): Promise<SessionRotationView> => {
    const before = keyId(sessionKey);
    const next = randomBytes(sessionKeyBytes);
    options.onNewSecret(next.toString("base64url"));
    beginChange();
    let isInForce = false;
    // In the same tick: from here on nothing of the previous key is valid, whatever happens to the rows.
    const onStep: OnKeyFileStep = (step) => {
      if (step !== "renamed") return;
      isInForce = true;
      sessionKey = next;
      for (const user of options.session_key_users) user.useKey(next);
    };
    try {
      replaceStoredKeys(data_dir, { session: sessionKey }, { session: next.toString("base64url") }, onStep);
      return await recordSession(actor, before, next);
    } catch (error) {
      throw isInForce ? incomplete("session", error) : error;
    }
  };

  const recordSession = async (actor: Actor, before: string, next: Uint8Array): Promise<SessionRotationView> => {
    const now = clock.now();
    const ended = await db.write(async (tx) => {
      const counts = await endEverySession(tx, now);
      await storeInstallationFact(tx, "session_key_id", keyId(next));
      await storeInstallationFact(tx, "session_key_since", String(now));
      await audit(tx, actor, {
        event: "session_key_rotated",
        outcome: "ok",
        detail: { from: before, to: keyId(next), ...counts },
      });
      return counts;
    });
    return {
      key: await view("session"),
      rotated_at: now,
      ended_sessions: ended.sessions,
      ended_api_tokens: ended.api_tokens,
    };
  };

  /** Returns everything to the previous key, which the key file then holds alone. The next start repairs what fails here. */
  const goBack = async (next: string): Promise<void> => {
    const keys = { primary: encryption, previous: [next, ...former].slice(0, maximumFormerKeys) };
    try {
      replaceStoredKeys(data_dir, { encryption: next }, { encryption: { primary: encryption, previous: [next] } });
      await moveSecrets({ db, sealer, steps, keys, skips_corrupt: true, also: () => Promise.resolve() });
      replaceStoredKeys(data_dir, { encryption }, { encryption: { primary: encryption } });
      former = keys.previous;
    } catch (error) {
      mustRestart = true;
      log.error("The rotation was not undone completely: the key file has both keys, and the next start completes it", {
        error,
      });
    }
  };

  const rotateEncryption = async (actor: Actor): Promise<EncryptionRotationView> => {
    // Checked first: otherwise everything would only be undone.
    await steps.run("look", async () => {
      await db.write(options.removeExpired);
      await assertAllReadable(db.read, sealer);
    });
    const backup = await steps.run("backup", () => options.backups.createBeforeRotation(actor));
    const before = encryption;
    const next = generateFernetKey();
    options.onNewSecret(next);
    const both = "file with both keys";
    const tell = steps.onFile(both);
    let isInFile = false;
    const onStep: OnKeyFileStep = (step) => {
      isInFile ||= step === "renamed";
      tell(step);
    };
    const now = clock.now();
    const keys = { primary: next, previous: [before, ...former].slice(0, maximumFormerKeys) };
    const also: Parameters<typeof moveSecrets>[0]["also"] = async (tx, written) => {
      await storeInstallationFact(tx, "encryption_key_since", String(now));
      const detail = { from: keyId(before), to: keyId(next), values: written, backup: backup.name };
      await audit(tx, actor, rotationRecord("ok", detail));
    };
    const move = async () => {
      const content = { primary: next, previous: [before] };
      await steps.run(both, () => replaceStoredKeys(data_dir, { encryption: before }, { encryption: content }, onStep));
      return await moveSecrets({ db, sealer, steps, keys, skips_corrupt: false, also });
    };
    const written = await move().catch(async (error: unknown) => {
      if (isInFile) await goBack(next);
      throw error;
    });
    encryption = next;
    former = keys.previous;
    const one = "file with one key";
    try {
      await steps.run(one, () =>
        replaceStoredKeys(data_dir, { encryption: next }, { encryption: { primary: next } }, steps.onFile(one)),
      );
      return {
        key: await view("encryption"),
        previous_id: keyId(before),
        rotated_at: now,
        reencrypted_values: written,
        backup,
      };
    } catch (error) {
      mustRestart = true;
      throw incomplete("encryption", error);
    }
  };

  /** With several processes on one database: logs once for each process that has another session key. */
  const compareSessionKeys = async (): Promise<void> => {
    const now = clock.now();
    if (db.rewriteTexts !== null || Math.abs(now - comparedAt) < compareEveryMs) return;
    comparedAt = now;
    const id = keyId(sessionKey);
    await db.write((tx) => noteSessionKey(tx, { id, now, since: now - 2 * compareEveryMs }));
    for (const other of await sessionKeysSeen(db.read)) {
      if (other === id || toldKeys.has(other)) continue;
      toldKeys.add(other);
      log.error(
        "Another process on this database uses a different session key: sessions, API tokens and approval links are valid on only one of them; give every process the same SESSION_KEY",
        { own: id, other },
      );
    }
  };

  return {
    compareSessionKeys,

    get: async (): Promise<SecurityKeysView> => ({
      session: await view("session"),
      encryption: await view("encryption"),
    }),

    /**
     * Replaces the session key: every session, API token and approval link ends at once, including the caller's. Throws 403 for an API
     * token, 401 for a session that another rotation just ended, 409 for a key that is not ours, 422, 429, 507; 500 `rotation_incomplete`
     * when the new key is in force nevertheless.
     */
    rotateSessionKey: (actor: Actor, session: Session, input: unknown): Promise<SessionRotationView> =>
      rotation("session", [actor, session, input], () => rotateSession(actor)),

    /**
     * Makes a backup, then seals every secret under a new key: all of them, or none. Throws 403 for an API token, 409 for a key that is not
     * ours and for a secret that no key opens, which is named; 422, 429, 507; 500 `rotation_incomplete` when the new key is in force
     * nevertheless.
     */
    rotateEncryptionKey: (actor: Actor, session: Session, input: unknown): Promise<EncryptionRotationView> =>
      rotation("encryption", [actor, session, input], () => rotateEncryption(actor)),
  };
}

/** A step after the new key took effect failed: repeating would start another rotation. */
function incomplete(name: KeyName, cause: unknown): AppError {
  let root = cause;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  const said = isDiskFull(root) ? say("keys.disk_full") : saidBy(root);
  return new AppError("rotation_incomplete", 500, say("keys.rotation_incomplete", { name, cause: said }), { cause });
}

/** Messages that say what to do about it. */
function wordsFor(error: unknown): unknown {
  if (error instanceof KeyError) return new AppError("rotation_refused", 409, error.said, { cause: error });
  return withoutRoom(error, say("files.no_room_for_keys"));
}
