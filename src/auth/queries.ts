import type { Writer } from "../db/client.ts";
import { audit_entries } from "../db/tables.ts";

export async function insertAuditEntry(tx: Writer, row: typeof audit_entries.$inferInsert): Promise<void> {
  await tx.insert(audit_entries).values(row);
}
