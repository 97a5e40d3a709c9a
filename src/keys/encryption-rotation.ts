import type { AuditRecord } from "../auth/audit-schema.ts";
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
  /** `primary` seals every secret; the others only open. */
  keys: EncryptionKeys;
  skips_corrupt: boolean;
  /** More for the same transaction: facts and the audit. */
  also: (tx: Writer, written: number) => Promise<void>;
}

/**
 * Seals every secret under `keys.primary` and records it in one transaction, then verifies that all can be read. The sealer switches keys
 * within the transaction, so no later row can use another key. Returns how many were written.
 */
export async function moveSecrets(options: MoveOptions): Promise<number> {
  const { db, sealer, steps, keys, skips_corrupt, also } = options;
  // Texts sealed before the switch and written after it, such as those waiting for an engine's response.
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

/** The audit entry of a rotation; ids only. */
export function rotationRecord(
  outcome: AuditRecord["outcome"],
  detail: NonNullable<AuditRecord["detail"]>,
): AuditRecord {
  return { event: "encryption_key_rotated", outcome, detail };
}
