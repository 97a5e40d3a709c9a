import { systemActor } from "../auth/schema.ts";
import type { Database } from "../db/client.ts";
import { endEverySession } from "../db/end-sessions.ts";
import { findInstallationFact, storeInstallationFact } from "../db/installation.ts";
import type { Message } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { assertKeyFits, type EncryptionKeys, type Keys, keyId, replaceStoredKeys } from "../secrets/keys.ts";
import type { RotatingSealer } from "../secrets/sealed.ts";
import { moveSecrets, rotationRecord } from "./encryption-rotation.ts";
import { rotationSteps } from "./rotation-steps.ts";
import { CorruptSecretError } from "./schema.ts";

interface FinishOptions extends Pick<Parts, "db" | "clock" | "log" | "audit"> {
  keys: Keys;
  sealer: RotatingSealer;
  data_dir: string;
}

/**
 * Completes an interrupted rotation of the encryption key: the key file has `previous` keys. Afterwards one key seals every secret, and our
 * key file holds only that one. A secret that no key opens does not prevent the start: the others stay or return to the last key of the
 * database, and the log names the secret. `KEYS_FILE` is never written: there, `previous` is how its owner rotates. Returns the keys in
 * force.
 */
export async function finishEncryptionRotation(options: FinishOptions): Promise<EncryptionKeys> {
  const { db, clock, log, audit, keys, sealer } = options;
  const { primary, previous } = keys.encryption;
  const stored = await findInstallationFact(db.read, "encryption_key_id");
  if (previous === undefined) {
    if (stored === null) await db.write((tx) => storeNewKeys(tx, keys, clock.now()));
    else assertKeyFits(keys.encryption, stored);
    return keys.encryption;
  }
  const isOurs = !keys.managed_by_environment.encryption;
  const steps = rotationSteps(log);
  const all = [primary, ...previous];
  const found = all.find((key) => keyId(key) === stored) ?? primary;
  log.warning("The key file has previous encryption keys: re-encrypting every secret with the primary one", {
    primary: keyId(primary),
    previous: previous.map((key) => keyId(key)),
    stored,
  });
  const move = (to: string, skips_corrupt: boolean, detail: { resumed: true; error?: Message }) => {
    const now = clock.now();
    return moveSecrets({
      db,
      sealer,
      steps,
      keys: { primary: to, previous: all.filter((key) => key !== to) },
      skips_corrupt,
      also: async (tx, written) => {
        if (keyId(to) !== stored) await storeInstallationFact(tx, "encryption_key_since", String(now));
        if (keyId(to) === stored && written === 0 && detail.error === undefined) return;
        const outcome = detail.error === undefined ? "ok" : "failed";
        await audit(tx, systemActor, rotationRecord(outcome, { from: stored, to: keyId(to), ...detail }));
      },
    });
  };
  let settled = primary;
  try {
    const written = await move(primary, false, { resumed: true });
    log.info("The rotation of the encryption key is complete", { key: keyId(primary), reencrypted: written });
  } catch (error) {
    if (!(error instanceof CorruptSecretError)) throw error;
    settled = found;
    await move(found, true, { resumed: true, error: error.said });
    log.error("The rotation of the encryption key was abandoned; all other secrets are under one key", {
      key: keyId(found),
      error,
    });
  }
  if (isOurs) {
    await steps.run("file with one key", () =>
      replaceStoredKeys(
        options.data_dir,
        { encryption: primary },
        { encryption: { primary: settled } },
        steps.onFile("file with one key"),
      ),
    );
    return { primary: settled };
  }
  if (settled === primary) {
    log.warning('Every secret is under the primary key: remove "previous" from the file that KEYS_FILE names', {
      key: keyId(primary),
    });
  }
  return { primary: settled, previous: all.filter((key) => key !== settled) };
}

/** For a new installation: both keys are as old as it. If another process on the same database began it first, its keys count. */
async function storeNewKeys(
  tx: Parameters<Parameters<Database["write"]>[0]>[0],
  keys: Keys,
  now: number,
): Promise<void> {
  const other = await findInstallationFact(tx, "encryption_key_id");
  if (other !== null) return assertKeyFits(keys.encryption, other);
  await storeInstallationFact(tx, "encryption_key_id", keyId(keys.encryption.primary));
  await storeInstallationFact(tx, "encryption_key_since", String(now));
  await storeInstallationFact(tx, "session_key_id", keyId(keys.session));
  await storeInstallationFact(tx, "session_key_since", String(now));
}

/**
 * Detects a session key that differs from the last start: it was changed, or a rotation was interrupted. Tokens of the previous key are
 * invalid, so the listed ones are ended too. Instances on a server database are left alone.
 */
export async function finishSessionRotation(
  options: Pick<FinishOptions, "db" | "clock" | "audit" | "keys">,
): Promise<void> {
  const { db, clock, audit, keys } = options;
  const stored = await findInstallationFact(db.read, "session_key_id");
  const id = keyId(keys.session);
  if (stored === id || db.rewriteTexts === null) return;
  await db.write(async (tx) => {
    await storeInstallationFact(tx, "session_key_id", id);
    if (stored === null) return;
    const now = clock.now();
    await storeInstallationFact(tx, "session_key_since", String(now));
    const ended = await endEverySession(tx, now);
    await audit(tx, systemActor, {
      event: "session_key_rotated",
      outcome: "ok",
      detail: { from: stored, to: id, found_at: "start", ...ended },
    });
  });
}
