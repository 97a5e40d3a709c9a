import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { keyId } from "../../src/secrets/keys.ts";
import { copyOfInstallation, refusedStart } from "../support/installation.ts";
import { type ApiClient, apiClient, firstSignIn, startServer, temporaryDir, testPassword } from "../support/server.ts";

const root = join(import.meta.dir, "../..");

async function command(
  name: "backup" | "restore",
  dataDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const faulty = env.FAIL_AT === undefined ? [] : ["--preload", "./tests/support/faulty-files-preload.ts"];
  const child = Bun.spawn([process.execPath, ...faulty, `src/commands/${name}.ts`, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? "", TMPDIR: tmpdir(), DATA_DIR: dataDir, ...env },
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
    expect((await command("restore", dir, [withoutKeys])).out).toContain("the current keys are kept");
    expect((await command("restore", dir, [join(withoutKeys, "tidemark.db")])).code).toBe(0);
    expect(await credentialsIn(dir)).toEqual(["registry", "old session 401"]);
  }, 120_000);

  test("refuses while the service runs, and works beside nothing else of it", async () => {
    const dir = copyOfInstallation(template);
    const server = await startServer({ data_dir: dir });
    const before = contentOf(dir);
    const { code, err } = await command("restore", dir, [withKeys]);
    expect([code, err]).toEqual([1, expect.stringContaining("is using the data directory")]);
    expect(contentOf(dir)).toEqual(before);
    await server.kill("SIGTERM");
  }, 60_000);

  const cases: readonly [name: string, damage: (backup: string) => unknown, says: (backup: string) => string][] = [
    ["a folder that is none", (b) => rmSync(b, { recursive: true }), () => "There is no backup"],
    ["a folder without a database", (b) => rmSync(join(b, "tidemark.db")), () => "it is not a Tidemark backup"],
    ["an empty database", (b) => writeFileSync(join(b, "tidemark.db"), ""), () => "is not a Tidemark database"],
    ["no database", (b) => writeFileSync(join(b, "tidemark.db"), "x".repeat(9_000)), () => "is not a database"],
    ["a truncated database", (b) => truncateSync(join(b, "tidemark.db"), 20_000), () => "is truncated"],
    ["a damaged first page", (b) => scribble(join(b, "tidemark.db"), 100), () => "cannot be read"],
    ["damaged pages", (b) => scribble(join(b, "tidemark.db"), 4096, 60_000), () => "The backup "],
    ["another program's database", (b) => otherDatabase(b), () => "is not a Tidemark database"],
    [
      "a newer schema",
      (b) => change(b, "INSERT INTO migrations VALUES (999, '0999_future', 'x', 1)"),
      () => "made by a newer version",
    ],
    [
      "no administrator",
      (b) => change(b, "DELETE FROM sessions", "DELETE FROM administrators"),
      () => "has no administrator",
    ],
    [
      "a session of nobody",
      (b) => change(b, "DELETE FROM administrators"),
      () => 'a row of the table "sessions" refers to a missing row of "administrators"',
    ],
    ["an added trigger", (b) => change(b, addedTrigger), () => 'trigger "quiet" does not belong to Tidemark'],
    ["a dropped table", (b) => change(b, "DROP TABLE releases"), () => 'table "releases" is missing'],
    [
      "a dropped column",
      (b) => change(b, "ALTER TABLE trackers DROP COLUMN description"),
      () => 'table "trackers" is defined differently',
    ],
    [
      "an unreadable secret",
      (b) => change(b, unreadableSecret),
      () => 'table "credentials", row 1, column "sealed_secret", cannot be decrypted with its keys',
    ],
    [
      "another administrator's id",
      (b) => change(b, "UPDATE installation SET value = 'x' WHERE key = 'administrator_id'"),
      () => "has no administrator",
    ],
    [
      "two administrators",
      (b) => change(b, "DROP INDEX administrators_singleton", secondAdministrator),
      () => 'index "administrators_singleton" is missing',
    ],
    [
      "a key file of another installation, and a database that names no key",
      async (b) => {
        await change(b, "DELETE FROM installation WHERE key = 'encryption_key_id'");
        writeFileSync(join(b, "keys.json"), otherKeys);
      },
      () => `the key in use, ${keyId(otherKey)}, decrypts none of them`,
    ],
    ["a damaged key file", (b) => writeFileSync(join(b, "keys.json"), "{"), () => "is damaged or of another version"],
    ["a readable key file", (b) => chmodSync(join(b, "keys.json"), 0o644), () => "run chmod 600"],
    [
      "a key file of another installation",
      (b) => writeFileSync(join(b, "keys.json"), otherKeys),
      () => `is encrypted with the key ${keyId(keyOf(withKeys))}, but the key in use is ${keyId(otherKey)}`,
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
      // As an earlier version wrote it: all but the checksums has to notice it too.
      rmSync(join(backup, "manifest.json"));
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
    expect((await command("restore", fresh, [withoutKeys])).err).toContain("This backup has no keys");
    expect(existsSync(join(fresh, "tidemark.db"))).toBe(false);
    const own = await command("restore", dir, [dir]);
    expect(own.err).toContain("is the database in use; name a backup");
    expect(contentOf(dir)).toEqual(before);
  }, 60_000);

  test.each([[[]], [["a", "b"]], [["--force", "a"]]])("refuses the arguments %j with the usage", async (args) => {
    const { code, err } = await command("restore", temporaryDir(), args);
    expect([code, err]).toEqual([2, expect.stringContaining("Usage: bun run restore FOLDER")]);
  });

  test("takes a backup that names no key where the keys open it, and the start names the key again", async () => {
    const backup = newFolder();
    cpSync(withKeys, backup, { recursive: true });
    rmSync(join(backup, "manifest.json"));
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

  test("what a restore left that never counted is removed by the next start, and nothing else", async () => {
    const dir = copyOfInstallation(template);
    const left = [
      "tidemark.db.restore-17",
      "tidemark.db.restore-17-wal",
      "keys.json.restore-17",
      "tidemark.keys.restore",
    ];
    mkdirSync(join(dir, "backups/before-upgrade-17.tmp"), { recursive: true });
    for (const name of [...left, "backups/before-upgrade-17.tmp/tidemark.db"]) writeFileSync(join(dir, name), "half");
    for (const name of ["tidemark.db.restore-me", "keys.json.old"]) writeFileSync(join(dir, name), "mine");
    expect(await credentialsIn(dir)).toContain("later");
    expect(
      readdirSync(dir)
        .filter((name) => /restore|old/.test(name))
        .toSorted(),
    ).toEqual(["keys.json.old", "tidemark.db.restore-me"]);
    expect(readdirSync(join(dir, "backups"))).toEqual([]);
  }, 60_000);

  test.each([
    ["before it has begun", "60:kill", false],
    ["once it has begun", "tidemark.restore.json:kill", true],
  ])(
    "a restore killed %s is done or undone by the next start, and leaves no keys",
    async (_name, at, hasBegun) => {
      const dir = copyOfInstallation(template);
      expect((await command("restore", dir, [withKeys], { FAIL_AT: at })).code).toBe(137);
      expect(readdirSync(dir).filter((name) => name.includes("restore"))).not.toEqual([]);
      expect(existsSync(join(dir, "tidemark.restore.json"))).toBe(hasBegun);
      expect((await credentialsIn(dir)).slice(0, -1)).toEqual(hasBegun ? ["registry"] : ["later", "registry"]);
      expect(readdirSync(dir).filter((name) => name.includes("restore"))).toEqual([]);
    },
    60_000,
  );

  test("works with the backups folder behind a link, on another file system where there is one", async () => {
    const dir = copyOfInstallation(template);
    const elsewhere = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tidemark-elsewhere-"));
    symlinkSync(elsewhere, join(dir, "backups"));
    const { code, err } = await command("restore", dir, [withKeys]);
    expect([code, err]).toEqual([0, ""]);
    expect(await credentialsIn(dir)).toEqual(["registry", "old session 401"]);
    const [replaced = ""] = readdirSync(elsewhere);
    expect((await command("restore", dir, [join(elsewhere, replaced), "--verify"])).out).toContain("can be restored");
    rmSync(elsewhere, { recursive: true });
  }, 60_000);

  test("restores nothing where the backups folder is a link that leads nowhere, and the service starts", async () => {
    const dir = copyOfInstallation(template);
    symlinkSync(join(dir, "nowhere"), join(dir, "backups"));
    const before = contentOf(dir);
    const { code, err } = await command("restore", dir, [withKeys]);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^Nothing was restored\. The folder ".+backups" cannot be created/),
    ]);
    expect(contentOf(dir)).toEqual(before);
    expect(await credentialsIn(dir)).toEqual(["later", "registry", "old session 200"]);
  }, 60_000);

  test("--verify judges a backup and changes nothing", async () => {
    const dir = copyOfInstallation(template);
    const before = contentOf(dir);
    expect(await command("restore", dir, [withKeys, "--verify"])).toMatchObject({ code: 0 });
    const backup = newFolder();
    cpSync(withKeys, backup, { recursive: true });
    scribble(join(backup, "tidemark.db"), 200_000, 16);
    const { code, err } = await command("restore", dir, [backup, "--verify"]);
    expect([code, err]).toEqual([1, expect.stringContaining("its checksum does not match")]);
    expect(contentOf(dir)).toEqual(before);
  }, 60_000);

  test("--verify leaves no keys behind, wherever it is killed", async () => {
    const temporary = mkdtempSync(join(tmpdir(), "tidemark-verified-"));
    const ends: number[] = [];
    for (let at = 4; ends.at(-1) !== 0; at += 4) {
      const env = { FAIL_AT: `${at}:kill`, TMPDIR: temporary };
      ends.push((await command("restore", template, [withKeys, "--verify"], env)).code);
      const files = readdirSync(temporary, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const left = files.map((entry) => join(entry.parentPath, entry.name));
      expect(left.filter((path) => readFileSync(path, "latin1").includes(keyOf(template)))).toEqual([]);
    }
    expect(new Set(ends)).toEqual(new Set([137, 0]));
    rmSync(temporary, { recursive: true });
  }, 120_000);

  test("--verify blames no backup for a full disk", async () => {
    const said = new Set<string>();
    for (let at = 4; ![...said].some((text) => text.includes("can be restored")); at += 4) {
      const { out, err } = await command("restore", template, [withKeys, "--verify"], { FAIL_AT: `${at}:ENOSPC` });
      expect(err).not.toContain("ENOSPC");
      said.add(out + err);
    }
    const room = `There is no room on the disk for a copy of the backup in "${tmpdir()}"`;
    expect([...said]).toContain(`${room}; free space there, or set TMPDIR to another folder\n`);
  }, 120_000);

  test("restores a backup with an unreadable secret only when told to, and says how many", async () => {
    const dir = copyOfInstallation(template);
    const backup = newFolder();
    cpSync(withKeys, backup, { recursive: true });
    rmSync(join(backup, "manifest.json"));
    await change(backup, unreadableSecret);
    expect((await command("restore", dir, [backup])).err).toContain("--accept-unreadable-secrets");
    const { code, out } = await command("restore", dir, [backup, "--accept-unreadable-secrets"]);
    expect([code, out]).toEqual([0, expect.stringContaining("Secrets that cannot be decrypted: 1")]);
    expect(out).toContain("It has no checksums");
  }, 60_000);

  test("a start does not go on with a restore whose note is damaged, and says how to end it", async () => {
    const dir = copyOfInstallation(template);
    writeFileSync(join(dir, "tidemark.restore.json"), "{");
    expect(await refusedStart(dir)).toContain(
      'run "bun run restore FOLDER" (in a container: "docker compose run --rm tidemark bun run restore FOLDER"): with the same backup it completes',
    );
    expect((await command("backup", dir, [newFolder()])).err).toContain("A restore has begun and is not complete");
    const { err } = await command("restore", dir, [join(dir, "nowhere")]);
    expect(err).toMatch(/nowhere" was not restored\..+A restore has begun and is not complete/);
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

const unreadableSecret = "UPDATE credentials SET sealed_secret = 'gAAAAA' || substr(sealed_secret, 8)";
const addedTrigger =
  "CREATE TRIGGER quiet AFTER INSERT ON audit_entries BEGIN DELETE FROM audit_entries WHERE id = NEW.id; END";
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
