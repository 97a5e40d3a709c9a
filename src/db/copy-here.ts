import { createClient } from "@libsql/client/sqlite3";
import { type FileFacts, fileFacts, syncFile, writeNewFile } from "../durable-files.ts";

/** Facts read from the copy. */
export interface CopyFacts extends FileFacts {
  /** The result of `PRAGMA integrity_check`: "ok", or what is wrong. */
  integrity: string;
  /** The id of the key that seals its secrets; null when it never had one. */
  encryption_key_id: string | null;
  /** How many migrations it has. */
  migrations: number;
}

/** Copies a database, even one in use, into a new file of mode 0600 and checks the copy. Blocks its thread. */
export async function copyHere(file: string, target: string): Promise<CopyFacts> {
  // SQLite writes into an existing empty file and keeps its mode.
  writeNewFile(target, "");
  const source = createClient({ url: `file:${file}` });
  try {
    await source.execute({ sql: "VACUUM INTO ?", args: [target] });
  } finally {
    source.close();
  }
  const judged = await judgeCopy(target);
  syncFile(target);
  return { ...judged, ...fileFacts(target) };
}

async function judgeCopy(target: string): Promise<Omit<CopyFacts, keyof FileFacts>> {
  const copy = createClient({ url: `file:${target}` });
  try {
    const check = await copy.execute("PRAGMA integrity_check(1)");
    const keys = await copy.execute("SELECT value FROM installation WHERE key = 'encryption_key_id'");
    const migrations = await copy.execute("SELECT count(*) FROM migrations");
    const id = keys.rows[0]?.[0];
    return {
      integrity: String(check.rows[0]?.[0]),
      encryption_key_id: typeof id === "string" ? id : null,
      migrations: Number(migrations.rows[0]?.[0]),
    };
  } finally {
    copy.close();
  }
}
