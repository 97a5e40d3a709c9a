import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import { administrators, installation, sessions } from "../../src/db/tables.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { keyFilePath, keyId, writeKeyFile } from "../../src/secrets/keys.ts";
import { createSealer } from "../../src/secrets/sealed.ts";
import { storeSecrets } from "../keys/key-house.ts";
import { closeWholly, temporaryDatabase } from "../support/temporary-database.ts";

export const migrationsFolder = join(import.meta.dir, "../../migrations");

/** A data directory as a start leaves it: keys of its own, an administrator, and one of each secret. */
export async function installed(username: string): Promise<string> {
  const { db, dir } = await temporaryDatabase();
  const keys = { primary: generateFernetKey() };
  const sealer = createSealer({ keys, clock: systemClock, onOpen: () => undefined });
  writeKeyFile(keyFilePath(dir), { format: 1, session: randomBytes(32).toString("base64url"), encryption: keys });
  const id = `administrator-${username}`;
  await db.write(async (tx) => {
    const at = { created_at: 1, updated_at: 1 };
    await tx
      .insert(administrators)
      .values({ id, username, password_hash: "x", is_password_change_required: false, ...at });
    await tx.insert(installation).values([
      { key: "administrator_id", value: id },
      { key: "encryption_key_id", value: keyId(keys.primary) },
    ]);
    const times = { created_at: 1, last_seen_at: 1, expires_at: 4_000_000_000_000 };
    await tx
      .insert(sessions)
      .values({ id: `session-${username}`, kind: "session", administrator_id: id, epoch: 1, ...times });
  });
  await storeSecrets({ db, sealer });
  await closeWholly({ db, dir });
  return dir;
}
