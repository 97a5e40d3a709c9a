import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { generateFernetKey } from "../src/secrets/fernet.ts";
import { copyOfInstallation, stoppedInstallation } from "./support/installation.ts";

const root = join(import.meta.dir, "..");
let template = "";

beforeAll(async () => {
  template = await stoppedInstallation();
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

const databaseOf = (dir: string) => join(dir, "tidemark.db");

/** Damages a stopped installation with the database's own means, and leaves one file with nothing pending beside it. */
async function damage(dir: string, statements: readonly string[]): Promise<void> {
  const client = createClient({ url: `file:${databaseOf(dir)}` });
  for (const statement of ["PRAGMA foreign_keys = OFF", ...statements]) await client.execute(statement);
  await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  client.close();
}

/** What is in the data directory, without the files of SQLite that hold nothing by then and the lock of the attempt. */
function contents(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !/-(?:wal|shm)$|lock/.test(entry.name),
  );
  return Object.fromEntries(
    files.map((file) => {
      const path = join(file.parentPath, file.name);
      return [path.slice(dir.length), createHash("sha256").update(readFileSync(path)).digest("hex")];
    }),
  );
}

async function run(command: readonly string[], dir: string, env: Record<string, string>, input = "") {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", DATA_DIR: dir, PORT: "0", ...env },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, text: output + errors };
}

const second =
  "INSERT INTO administrators SELECT 'second', singleton, 'eve', password_hash, is_password_change_required, session_epoch, password_changed_at, created_at, updated_at FROM administrators LIMIT 1";

interface Row {
  statements?: readonly string[];
  files?: (dir: string) => void;
  env?: Record<string, string>;
  /** What is wrong, and what to do. */
  says: readonly string[];
}

const restore = "restore the database from a backup that you trust";
const rows: [string, Row][] = [
  [
    "the administrator was deleted",
    { statements: ["DELETE FROM administrators"], says: ["administrator record is missing", restore] },
  ],
  [
    "the administrator and the stored id were deleted",
    {
      statements: ["DELETE FROM administrators", "DELETE FROM installation WHERE key = 'administrator_id'"],
      says: ["administrator record is missing", restore],
    },
  ],
  [
    "the table of administrators was emptied and everything that names one",
    {
      statements: [
        "DELETE FROM administrators",
        "DELETE FROM sessions",
        "DELETE FROM installation WHERE key = 'administrator_id'",
      ],
      says: ["administrator record is missing", restore],
    },
  ],
  [
    "there are two administrators",
    {
      statements: ["DROP INDEX administrators_singleton", second],
      says: ["more than one administrator record", restore],
    },
  ],
  [
    "the first of two administrators was deleted",
    {
      statements: ["DROP INDEX administrators_singleton", second, "DELETE FROM administrators WHERE id <> 'second'"],
      says: ["has the ID second", "stored administrator identity is", restore],
    },
  ],
  [
    "the administrator's id was changed",
    { statements: ["UPDATE administrators SET id = 'other'"], says: ["has the ID other", restore] },
  ],
  [
    "the administrator's id was changed by its case",
    { statements: ["UPDATE administrators SET id = upper(id)"], says: ["has the ID", restore] },
  ],
  [
    "the stored id was changed",
    {
      statements: ["UPDATE installation SET value = 'other' WHERE key = 'administrator_id'"],
      says: ["stored administrator identity is other", restore],
    },
  ],
  [
    "the stored id is blank",
    {
      statements: ["UPDATE installation SET value = '' WHERE key = 'administrator_id'"],
      says: ["stored administrator identity is", restore],
    },
  ],
  [
    "the stored id was deleted",
    {
      statements: ["DELETE FROM installation WHERE key = 'administrator_id'"],
      says: ["stored administrator identity is missing", restore],
    },
  ],
  [
    "the database has no byte",
    { files: (dir) => truncateSync(databaseOf(dir), 0), says: ["is empty (0 bytes) although its key file exists"] },
  ],
  [
    "the database is gone and its keys are there",
    { files: (dir) => rmSync(databaseOf(dir)), says: ["key file exists"] },
  ],
  [
    "the database is cut off",
    { files: (dir) => truncateSync(databaseOf(dir), 8192), says: ["tidemark.db", "Restore a backup"] },
  ],
  [
    "the database is something else",
    { files: (dir) => writeFileSync(databaseOf(dir), "x".repeat(9000)), says: ["tidemark.db"] },
  ],
  [
    "the key file is gone",
    {
      files: (dir) => rmSync(join(dir, "keys.json")),
      says: ["restore the file from the backup of the data directory"],
    },
  ],
  ["the key file is empty", { files: (dir) => writeFileSync(join(dir, "keys.json"), ""), says: ["keys.json"] }],
  ["the encryption key is another", { env: { ENCRYPTION_KEY: generateFernetKey() }, says: ["correct ENCRYPTION_KEY"] }],
  ["the encryption key is none", { env: { ENCRYPTION_KEY: "not a key" }, says: ["ENCRYPTION_KEY"] }],
  ["the session key is too short", { env: { SESSION_KEY: "c2hvcnQ" }, says: ["SESSION_KEY"] }],
];

describe("a start refuses, says why and what to do, and touches nothing, when", () => {
  test.each(rows)("%s", async (_name, row) => {
    const dir = copyOfInstallation(template);
    await damage(dir, row.statements ?? []);
    row.files?.(dir);
    const before = contents(dir);
    const { code, text } = await run(["src/main.ts"], dir, row.env ?? {});
    expect(code).not.toBe(0);
    for (const said of row.says) expect(text).toContain(said);
    expect(text).not.toContain("bootstrap password");
    expect(text).not.toContain("Tidemark is ready");
    expect(text).not.toMatch(/\n\s+at |node_modules/);
    expect(contents(dir)).toEqual(before);
  });
});

describe("the reset command recreates nobody when", () => {
  test.each(rows.filter(([, row]) => row.statements !== undefined))("%s", async (_name, row) => {
    const dir = copyOfInstallation(template);
    await damage(dir, row.statements ?? []);
    const before = contents(dir);
    const { code, text } = await run(["src/commands/reset-password.ts", "--stdin"], dir, {}, "kelp-otter-lantern\n");
    expect(code).toBe(1);
    for (const said of row.says) expect(text).toContain(said);
    expect(contents(dir)).toEqual(before);
  });
});
