import type { AuditRecord } from "../auth/schema.ts";
import type { Database, Writer } from "../db/client.ts";
import { storeInstallationFact } from "../db/installation.ts";
import { type EncryptionKeys, keyId } from "../secrets/keys.ts";
import type { RotatingSealer } from "../secrets/sealed.ts";
import { assertAllPrimary, reencryptAll } from "./reencrypt.ts";
import type { RotationSteps } from "./rotation-steps.ts";

interface MoveOptions {
  db: Database;
  sealer: RotatingSealer;
  steps: RotationSteps;
  /** `primary` is where every secret goes; the others open what it does not. */
  keys: EncryptionKeys;
  skips_corrupt: boolean;
  /** More for the same transaction: facts and the audit. */
  also: (tx: Writer, written: number) => Promise<void>;
}

/**
 * One transaction that brings every secret under `keys.primary` and says so in the database; then all are read again. The sealer takes
 * the keys within the transaction: no row that is written after it can be under another one. Returns how many were written.
 */
export async function moveSecrets(options: MoveOptions): Promise<number> {
  const { db, sealer, steps, keys, skips_corrupt, also } = options;
  // What was sealed before and is written after: it waits for an engine's answer, say.
  db.rewriteTexts?.(sealer.toPrimary);
  const written = await steps.run("transaction", () =>
    db.write(async (tx) => {
      sealer.useKeys(keys);
      const count = await steps.run("reencrypt", () =>
        reencryptAll(tx, { sealer, skips_corrupt, onColumn: steps.onColumn }),
      );
      await steps.run("key id", async () => {
        await storeInstallationFact(tx, "encryption_key_id", keyId(keys.primary));
        await also(tx, count);
      });
      return count;
    }),
  );
  if (!skips_corrupt) await steps.run("verify", () => assertAllPrimary(db.read, sealer));
  return written;
}

/** What the audit says of a rotation; ids alone. */
export function rotationRecord(
  outcome: AuditRecord["outcome"],
  detail: NonNullable<AuditRecord["detail"]>,
): AuditRecord {
  return { event: "encryption_key_rotated", outcome, detail };
}
