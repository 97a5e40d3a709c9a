import { eq } from "drizzle-orm";
import type { Reader, Writer } from "./client.ts";
import { credentials, installation, notifiers, snapshots } from "./tables.ts";

/** Facts that belong to the whole installation. */
export type InstallationFact = "administrator_id" | "encryption_key_id";

export async function findInstallationFact(read: Reader, key: InstallationFact): Promise<string | null> {
  const rows = await read
    .select({ value: installation.value })
    .from(installation)
    .where(eq(installation.key, key))
    .limit(1);
  return rows[0]?.value ?? null;
}

export async function storeInstallationFact(tx: Writer, key: InstallationFact, value: string): Promise<void> {
  await tx.insert(installation).values({ key, value }).onConflictDoUpdate({ target: installation.key, set: { value } });
}

/** Whether anything is stored that only the encryption key can read. */
export async function hasSealedRows(read: Reader): Promise<boolean> {
  for (const table of [credentials, notifiers, snapshots]) {
    const rows = await read.select({ id: table.id }).from(table).limit(1);
    if (rows.length > 0) return true;
  }
  return (await findInstallationFact(read, "encryption_key_id")) !== null;
}
