import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { stagedDatabase, stagedKeys, writeRestoreNote } from "../../src/backups/place-restored.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { keyId } from "../../src/secrets/keys.ts";
import { copyOfInstallation, refusedStart } from "../support/installation.ts";
import { type ApiClient, apiClient, firstSignIn, startServer, temporaryDir, testPassword } from "../support/server.ts";

const root = join(import.meta.dir, "../..");

async function command(name: "backup" | "restore", dataDir: string, args: readonly string[], env = {}) {
  const child = Bun.spawn([process.execPath, `src/commands/${name}.ts`, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? "", DATA_DIR: dataDir, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

/** Every file of a folder with its content, so that nothing can change unseen. */
function contentOf(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !/tidemark\.lock|-shm$/.test(path))
      .map((path) => [path.slice(dir.length), Bun.hash(readFileSync(path)).toString()]),
  );
}

const keyOf = (dir: string) => String(JSON.parse(readFileSync(join(dir, "keys.json"), "utf8")).encryption.primary);
const newFolder = () => join(temporaryDir(), "backup");
const secret = { username: "ci", password: "a-secret-that-comes-back" };

let template = "";
let withKeys = "";
let withoutKeys = "";
/** Of the session that was open when the backup was made. */
let oldToken: string | null = null;

beforeAll(async () => {
  const server = await startServer();
  template = server.data_dir;
  const api: ApiClient = await firstSignIn(server);
  oldToken = api.token;
  await api.post("/credentials", { name: "registry", kind: "oci", secret });
  withKeys = newFolder();
  withoutKeys = newFolder();
  expect((await command("backup", template, [withKeys])).code).toBe(0);
  const bare = await command("backup", template, [withoutKeys, "--without-keys"]);
  expect([bare.code, bare.out]).toEqual([0, expect.stringContaining("The keys are not in")]);
  await api.post("/credentials", { name: "later", kind: "oci", secret });
  await server.kill("SIGTERM");
}, 120_000);
afterAll(() => rmSync(template, { recursive: true, force: true }));

async function credentialsIn(dataDir: string): Promise<string[]> {
  const server = await startServer({ data_dir: dataDir });
  const api = apiClient(server.url);
  const signedIn = await api.post("/session", { username: "admin", password: testPassword });
  api.token = String(signedIn.body.token);
  const { items } = (await api.get("/credentials")).body as { items: { name: string; has_secret?: boolean }[] };
  const held = await apiClient(server.url, oldToken).get("/account");
  await server.kill("SIGTERM");
  return [...items.map(({ name }) => name), `old session ${held.status}`];
}

describe("bun run restore", () => {
  test("brings database and keys back, ends sessions, and keeps what it replaced", async () => {
    const dir = copyOfInstallation(template);
    const before = keyOf(dir);
    const { code, out, err } = await command("restore", dir, [withKeys]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("with its keys");
    expect(out).toContain(keyId(before));
    for (const name of ["tidemark.db", "keys.json"]) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    const [replaced = ""] = readdirSync(join(dir, "backups"));
    const client = createClient({ url: `file:${join(dir, "backups", replaced, "tidemark.db")}` });
    expect((await client.execute("SELECT count(*) FROM credentials")).rows[0]?.[0]).toBe(2);
    client.close();
    expect(keyOf(join(dir, "backups", replaced))).toBe(before);
    expect(await credentialsIn(dir)).toEqual(["registry", "old session 401"]);
    // And back again: what was put aside is a backup like any other.
    expect((await command("restore", dir, [join(dir, "backups", replaced)])).code).toBe(0);
    expect(await credentialsIn(dir)).toEqual(["later", "registry", "old session 401"]);
  }, 120_000);

  test("works into an empty data directory, and without keys beside those that are there", async () => {
    const fresh = join(temporaryDir(), "data");
    expect((await command("restore", fresh, [withKeys])).code).toBe(0);
    expect(await credentialsIn(fresh)).toEqual(["registry", "old session 401"]);
    const dir = copyOfInstallation(template);
    expect((await command("restore", dir, [withoutKeys])).out).toContain("the keys in use stay");
    expect((await command("restore", dir, [join(withoutKeys, "tidemark.db")])).code).toBe(0);
    expect(await credentialsIn(dir)).toEqual(["registry", "old session 401"]);
  }, 120_000);

  test("refuses while the service runs, and works beside nothing else of it", async () => {
    const dir = copyOfInstallation(template);
    const server = await startServer({ data_dir: dir });
    const before = contentOf(dir);
    const { code, err } = await command("restore", dir, [withKeys]);
    expect([code, err]).toEqual([1, expect.stringContaining("already runs on the data directory")]);
    expect(contentOf(dir)).toEqual(before);
    await server.kill("SIGTERM");
  }, 60_000);

  const cases: readonly [name: string, damage: (backup: string) => unknown, says: (backup: string) => string][] = [
    ["a folder that is none", (b) => rmSync(b, { recursive: true }), () => "There is no backup"],
    ["a folder without a database", (b) => rmSync(join(b, "tidemark.db")), () => "it is no backup of Tidemark"],
    ["an empty database", (b) => writeFileSync(join(b, "tidemark.db"), ""), () => "is not a database of Tidemark"],
    ["no database", (b) => writeFileSync(join(b, "tidemark.db"), "x".repeat(9_000)), () => "is not a database"],
    ["a truncated database", (b) => truncateSync(join(b, "tidemark.db"), 20_000), () => "is cut off"],
    ["a damaged first page", (b) => scribble(join(b, "tidemark.db"), 100), () => "cannot be read"],
    ["damaged pages", (b) => scribble(join(b, "tidemark.db"), 4096, 60_000), () => "The backup "],
    ["another program's database", (b) => otherDatabase(b), () => "is not a database of Tidemark"],
    [
      "a newer schema",
      (b) => change(b, "INSERT INTO migrations VALUES (999, '0999_future', 'x', 1)"),
      () => "was written by a newer version",
    ],
    ["no administrator", (b) => change(b, "DELETE FROM administrators"), () => "has no administrator"],
    [
      "another administrator's id",
      (b) => change(b, "UPDATE installation SET value = 'x' WHERE key = 'administrator_id'"),
      () => "has no administrator",
    ],
    [
      "two administrators",
      (b) => change(b, "DROP INDEX administrators_singleton", secondAdministrator),
      () => "has 2 administrators, it must have 1",
    ],
    [
      "a key file of another installation, and a database that names no key",
      async (b) => {
        await change(b, "DELETE FROM installation WHERE key = 'encryption_key_id'");
        writeFileSync(join(b, "keys.json"), otherKeys);
      },
      () => `the key in use, ${keyId(otherKey)}, opens none of them`,
    ],
    ["a damaged key file", (b) => writeFileSync(join(b, "keys.json"), "{"), () => "is damaged or of another version"],
    ["a readable key file", (b) => chmodSync(join(b, "keys.json"), 0o644), () => "run chmod 600"],
    [
      "a key file of another installation",
      (b) => writeFileSync(join(b, "keys.json"), otherKeys),
      () => `is encrypted with the key ${keyId(keyOf(withKeys))}, and the key in use is ${keyId(otherKey)}`,
    ],
    [
      "a key file without the encryption key",
      (b) => writeFileSync(join(b, "keys.json"), JSON.stringify({ format: 1, session: JSON.parse(otherKeys).session })),
      () => "has no encryption key",
    ],
  ];

  test.each(cases)(
    "refuses %s and touches nothing",
    async (_name, damage, says) => {
      const dir = copyOfInstallation(template);
      const backup = newFolder();
      cpSync(withKeys, backup, { recursive: true });
      await damage(backup);
      const before = contentOf(dir);
      const { code, err } = await command("restore", dir, [backup]);
      expect(err).toStartWith("Nothing was restored. ");
      expect(err).toContain(says(backup));
      expect(code).toBe(1);
      expect(contentOf(dir)).toEqual(before);
    },
    30_000,
  );

  test("refuses keys of the environment that do not fit, and a backup without keys where there are none", async () => {
    const dir = copyOfInstallation(template);
    const before = contentOf(dir);
    const wrong = await command("restore", dir, [withKeys], { ENCRYPTION_KEY: otherKey });
    expect(wrong.err).toContain(`the key in use is ${keyId(otherKey)}`);
    expect(contentOf(dir)).toEqual(before);
    const fresh = join(temporaryDir(), "data");
    expect((await command("restore", fresh, [withoutKeys])).err).toContain("There are no keys for this backup");
    expect(existsSync(join(fresh, "tidemark.db"))).toBe(false);
    const own = await command("restore", dir, [dir]);
    expect(own.err).toContain("is the database in use itself");
    expect(contentOf(dir)).toEqual(before);
  }, 60_000);

  test.each([[[]], [["a", "b"]], [["--force", "a"]]])("refuses the arguments %j with the usage", async (args) => {
    const { code, err } = await command("restore", temporaryDir(), args);
    expect([code, err]).toEqual([2, expect.stringContaining("Usage: bun run restore FOLDER")]);
  });

  test("takes a backup that names no key where the keys open it, and the start names the key again", async () => {
    const backup = newFolder();
    cpSync(withKeys, backup, { recursive: true });
    await change(backup, "DELETE FROM installation WHERE key = 'encryption_key_id'");
    const dir = copyOfInstallation(template);
    expect((await command("restore", dir, [backup])).code).toBe(0);
    expect(await credentialsIn(dir)).toEqual(["registry", "old session 401"]);
    const client = createClient({ url: `file:${join(dir, "tidemark.db")}` });
    const stored = await client.execute("SELECT value FROM installation WHERE key = 'encryption_key_id'");
    expect(stored.rows[0]?.[0]).toBe(keyId(keyOf(dir)));
    client.close();
  }, 60_000);

  test("keeps from others what others may read in the backup, also outside the data directory", async () => {
    const cold = newFolder();
    const source = copyOfInstallation(template);
    mkdirSync(cold);
    for (const name of ["tidemark.db", "tidemark.db-wal"]) {
      if (!existsSync(join(source, name))) continue;
      copyFileSync(join(source, name), join(cold, name));
      chmodSync(join(cold, name), 0o644);
    }
    copyFileSync(join(source, "keys.json"), join(cold, "keys.json"));
    const [dir, elsewhere] = [copyOfInstallation(template), join(temporaryDir(), "elsewhere.db")];
    expect((await command("restore", dir, [cold], { DATABASE_URL: `file:${elsewhere}` })).code).toBe(0);
    for (const path of [elsewhere, join(dir, "keys.json")]) expect(statSync(path).mode & 0o777).toBe(0o600);
  }, 60_000);

  test("takes the newest rows of a cold copy from the log beside it", async () => {
    const source = copyOfInstallation(template);
    const client = createClient({ url: `file:${join(source, "tidemark.db")}` });
    await client.execute("PRAGMA journal_mode = WAL");
    await client.execute("UPDATE credentials SET name = 'from-the-log' WHERE name = 'later'");
    const cold = newFolder();
    mkdirSync(cold);
    for (const name of ["tidemark.db", "tidemark.db-wal", "keys.json"])
      copyFileSync(join(source, name), join(cold, name));
    client.close();
    const dir = copyOfInstallation(template);
    expect((await command("restore", dir, [cold])).code).toBe(0);
    expect(await credentialsIn(dir)).toContain("from-the-log");
  }, 60_000);

  /** What is there when a restore dies behind its note, after so many of its renames. */
  const states: readonly [string, (dir: string, aside: string) => void][] = [
    ["the note", () => undefined],
    ["the old database was put aside", (dir, aside) => move(dir, "tidemark.db", aside)],
    [
      "the new database was placed",
      (dir, aside) => {
        move(dir, "tidemark.db", aside);
        copyFileSync(stagedDatabase(join(dir, "tidemark.db")), join(dir, "tidemark.db"));
        rmSync(stagedDatabase(join(dir, "tidemark.db")));
      },
    ],
    [
      "the old keys were put aside",
      (dir, aside) => {
        move(dir, "tidemark.db", aside);
        copyFileSync(stagedDatabase(join(dir, "tidemark.db")), join(dir, "tidemark.db"));
        rmSync(stagedDatabase(join(dir, "tidemark.db")));
        move(dir, "keys.json", aside);
      },
    ],
  ];
  test.each(states)(
    "a start does the rest of a restore that died after %s",
    async (_name, until) => {
      const dir = copyOfInstallation(template);
      const at = 1_700_000_000_000;
      const aside = join(dir, "backups", `replaced-${at}`);
      copyFileSync(join(withKeys, "tidemark.db"), stagedDatabase(join(dir, "tidemark.db")));
      copyFileSync(join(withKeys, "keys.json"), stagedKeys(dir));
      writeRestoreNote(dir, { format: 1, at, database_file: join(dir, "tidemark.db"), with_keys: true });
      mkdirSync(aside, { recursive: true });
      until(dir, aside);
      expect((await credentialsIn(dir)).slice(0, 1)).toEqual(["registry"]);
      expect(readdirSync(aside).toSorted()).toContain("tidemark.db");
      expect(readdirSync(aside).toSorted()).toContain("keys.json");
      expect(readdirSync(dir).filter((name) => name.includes("restore"))).toEqual([]);
    },
    60_000,
  );

  test("what a restore left that never counted is not taken", async () => {
    const dir = copyOfInstallation(template);
    writeFileSync(stagedDatabase(join(dir, "tidemark.db")), "half");
    expect(await credentialsIn(dir)).toContain("later");
    writeFileSync(join(dir, "tidemark.restore.json"), "{");
    expect(await refusedStart(dir)).toContain("run the restore once more");
    expect((await command("restore", dir, [withKeys])).code).toBe(0);
    expect(await credentialsIn(dir)).not.toContain("later");
  }, 60_000);
});

const otherKey = generateFernetKey();
const otherKeys = JSON.stringify({
  format: 1,
  session: Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString("base64url"),
  encryption: { primary: otherKey },
});

function scribble(path: string, at: number, length = 60): void {
  writeSync(openSync(path, "r+"), Buffer.alloc(length, 0xa5), 0, length, at);
}

const secondAdministrator =
  "INSERT INTO administrators SELECT 'second', singleton, 'eve', password_hash, is_password_change_required, session_epoch, password_changed_at, created_at, updated_at FROM administrators LIMIT 1";

async function change(backup: string, ...statements: readonly string[]): Promise<void> {
  const client = createClient({ url: `file:${join(backup, "tidemark.db")}` });
  for (const sql of ["PRAGMA foreign_keys = OFF", ...statements]) await client.execute(sql);
  client.close();
}

async function otherDatabase(backup: string): Promise<void> {
  rmSync(join(backup, "tidemark.db"));
  await change(backup, "CREATE TABLE somebody (name TEXT)");
}

function move(dir: string, name: string, aside: string): void {
  copyFileSync(join(dir, name), join(aside, name));
  rmSync(join(dir, name));
}
