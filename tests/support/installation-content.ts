import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client/sqlite3";

/** What a restore itself changes: sign-ins end, and it is in the audit. */
const asked = (table: string) => {
  if (table === "audit_entries") return "SELECT * FROM audit_entries WHERE event <> 'database_restored'";
  return `SELECT * FROM "${table}"`;
};

/** Every row of a data directory or of a backup, and its keys, but for what a restore changes. Changes nothing itself. */
export async function contentOf(folder: string, withKeys = true): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), "tidemark-content-"));
  for (const name of ["tidemark.db", "tidemark.db-wal"]) {
    if (existsSync(join(folder, name))) cpSync(join(folder, name), join(copy, name));
  }
  const client = createClient({ url: `file:${join(copy, "tidemark.db")}` });
  try {
    const tables = await client.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    const rows: string[] = [];
    for (const [name] of tables.rows.map((row) => [String(row[0])])) {
      if (name === undefined || name === "sessions") continue;
      const found = await client.execute(asked(name));
      const texts = found.rows.map((row) =>
        JSON.stringify({ ...row, ...(name === "administrators" ? { session_epoch: 0 } : {}) }),
      );
      rows.push(`${name}: ${texts.toSorted().join("\n")}`);
    }
    const keys = withKeys ? readFileSync(join(folder, "keys.json"), "utf8") : "";
    return createHash("sha256").update(rows.join("\n")).update(keys).digest("hex");
  } finally {
    client.close();
    rmSync(copy, { recursive: true });
  }
}
