import { afterEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createClient } from "@libsql/client";
import { eq, sql } from "drizzle-orm";
import * as v from "valibot";
import { findInstallationFact } from "../../src/db/installation.ts";
import { listSealedValues, sealedColumns, storeSealedValue } from "../../src/db/sealed-columns.ts";
import { credentials, idempotency_keys, notifiers, oidc_attempts, run_logs } from "../../src/db/tables.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { keyId, writeKeyFile } from "../../src/secrets/keys.ts";
import { asSealed, createSealer } from "../../src/secrets/sealed.ts";
import { actor, keyHouse, password, secretTexts } from "./key-house.ts";

type House = Awaited<ReturnType<typeof keyHouse>>;
let house: House;

afterEach(async () => await house.close());

/** Every secret of the database, opened with this key alone. */
async function openAll({ db, clock }: House, primary: string): Promise<string[]> {
  const sealer = createSealer({ keys: { primary }, clock, onOpen: () => undefined });
  const texts: string[] = [];
  for (const column of sealedColumns) {
    for (const { value } of await listSealedValues(db.read, column, -1, 100)) texts.push(sealer.open(asSealed(value)));
  }
  return texts;
}

describe("sealedColumns", () => {
  test("are all that the database itself has, and one of each is stored here", async () => {
    house = await keyHouse();
    const found = await house.db.client.execute(
      "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name LIKE 'sealed%'",
    );
    const inDatabase = found.rows.map((row) => `${row[0]}.${row[1]}`).toSorted();
    expect(sealedColumns.map(({ table_name, column }) => `${table_name}.${column.name}`).toSorted()).toEqual(
      inDatabase,
    );
    // A new column needs a secret in `storeSecrets`, without which nothing here says anything of it.
    expect(sealedColumns.map(({ table_name }) => table_name).toSorted()).toEqual(Object.keys(secretTexts).toSorted());
    for (const column of sealedColumns) {
      expect([column.table_name, (await listSealedValues(house.db.read, column, -1, 10)).length]).toEqual([
        column.table_name,
        1,
      ]);
    }
  });

  test("are named so that the rotation finds them", () => {
    const folder = join(import.meta.dir, "../../src/db/tables");
    const text = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("");
    const names = [...text.matchAll(/(?<!const )\bsealed\("(\w+)"\)/g)].map(([, name]) => name ?? "");
    expect(names.length).toBe(sealedColumns.length);
    for (const name of names) expect(name).toStartWith("sealed_");
    // Nothing else makes a column of that type.
    expect(text.match(/<Sealed>/g)).toHaveLength(1);
  });
});

describe("rotateEncryptionKey()", () => {
  test("brings every secret under a new key, makes a backup first and leaves one key", async () => {
    house = await keyHouse();
    const old = house.keys.encryption.primary;
    const before = await openAll(house, old);
    const done = await house.services.security_keys.rotateEncryptionKey(actor, house.session, password);

    const { encryption, session } = house.stored();
    expect(encryption).toEqual({ primary: expect.any(String) });
    expect(encryption.primary).not.toBe(old);
    expect(session).toBe(Buffer.from(house.keys.session).toString("base64url"));
    expect(statSync(house.path).mode & 0o777).toBe(0o600);
    expect(await openAll(house, encryption.primary)).toEqual(before);
    for (const text of Object.values(secretTexts)) expect(before.join("\n")).toContain(text);
    expect(await findInstallationFact(house.db.read, "encryption_key_id")).toBe(keyId(encryption.primary));

    expect(done).toMatchObject({
      key: {
        id: keyId(encryption.primary),
        since: house.clock.now(),
        managed_by: null,
        rotation_refusal: null,
        rotation_refusal_data: null,
      },
      previous_id: keyId(old),
      reencrypted_values: sealedColumns.length,
      backup: { kind: "before-key-rotation", has_keys: true },
    });
    const kept = JSON.parse(readFileSync(join(done.backup.path, "keys.json"), "utf8"));
    expect(kept.encryption).toEqual({ primary: old });
    const copy = createClient({ url: `file:${join(done.backup.path, "tidemark.db")}` });
    const value = (await copy.execute("SELECT sealed_secret FROM credentials")).rows[0]?.[0];
    copy.close();
    const sealer = createSealer({ keys: { primary: old }, clock: house.clock, onOpen: () => undefined });
    expect(sealer.open(asSealed(String(value)))).toContain(secretTexts.credentials);
    expect(await house.audited("encryption_key_rotated")).toMatchObject([
      { outcome: "ok", detail: { from: keyId(old), to: keyId(encryption.primary), backup: done.backup.name } },
    ]);
  });

  test("leaves no value anywhere in the database that the former key opens", async () => {
    house = await keyHouse();
    const old = house.keys.encryption.primary;
    await house.services.security_keys.rotateEncryptionKey(actor, house.session, password);
    const sealer = createSealer({ keys: { primary: old }, clock: house.clock, onOpen: () => undefined });
    const tables = await house.db.client.execute("SELECT name FROM sqlite_master WHERE type = 'table'");
    const opened: string[] = [];
    let looked = 0;
    for (const table of tables.rows.map((row) => String(row[0]))) {
      for (const row of (await house.db.client.execute(`SELECT * FROM "${table}"`)).rows) {
        for (const [token] of JSON.stringify(Object.values(row)).matchAll(/gAAAAA[\w-]{90,}={0,2}/g)) {
          looked += 1;
          if (sealer.isPrimary(token)) opened.push(table);
        }
      }
    }
    expect(looked).toBeGreaterThanOrEqual(sealedColumns.length);
    expect(opened).toEqual([]);
  });

  test("lets the process read and write on without a restart, also what it sealed or read before", async () => {
    house = await keyHouse();
    const { db, sealer } = house;
    const sealedBefore = sealer.sealJson({ url: "https://hooks.example/late-0006" });
    const [readBefore] = await db.read.select().from(credentials).limit(1);
    await house.services.security_keys.rotateEncryptionKey(actor, house.session, password);
    const { primary } = house.stored().encryption;

    await db.write((tx) => tx.update(notifiers).set({ sealed_config: sealedBefore }));
    const [stored] = await db.read.select().from(notifiers).limit(1);
    const alone = createSealer({ keys: { primary }, clock: house.clock, onOpen: () => undefined });
    expect(alone.open(asSealed(stored?.sealed_config ?? ""))).toContain("late-0006");
    expect(sealer.open(asSealed(readBefore?.sealed_secret ?? ""))).toContain(secretTexts.credentials);
    const opened = await house.services.credentials.openSecret("oci", "credential-1");
    expect(v.parse(v.object({ password: v.string() }), opened).password).toBe(secretTexts.credentials);
    expect(sealer.keyId).toBe(keyId(primary));
  });

  test("takes in what others write while it goes on, and can be repeated", async () => {
    house = await keyHouse();
    const { services } = house;
    const rotating = services.security_keys.rotateEncryptionKey(actor, house.session, password);
    const writing = Array.from({ length: 50 }, (_, index) =>
      services.credentials.create(actor, {
        name: `c${index}`,
        kind: "oci",
        secret: { username: "u", password: `p-${index}-secret` },
      }),
    );
    await Promise.all([rotating, ...writing]);
    await services.security_keys.rotateEncryptionKey(actor, house.session, password);
    expect(await openAll(house, house.stored().encryption.primary)).toHaveLength(sealedColumns.length + 50);
  });

  test("one corrupt secret stops it, is named, and nothing changes", async () => {
    house = await keyHouse();
    const bytes = readFileSync(house.path);
    const other = createSealer({ keys: { primary: generateFernetKey() }, clock: house.clock, onOpen: () => undefined });
    const [row] = await house.db.read.select().from(credentials).limit(1);
    const { services } = house;
    const rotate = () => services.security_keys.rotateEncryptionKey(actor, house.session, password);
    const good = row?.sealed_secret ?? "";
    const flipped = `${good.slice(0, 60)}${good[60] === "A" ? "B" : "A"}${good.slice(61)}`;
    for (const broken of [other.seal("x".repeat(80)), flipped, "", "plain", good.slice(0, -4)]) {
      await house.db.write((tx) => tx.update(credentials).set({ sealed_secret: sql`${broken}` }));
      await expect(rotate()).rejects.toMatchObject({
        code: "corrupt_secret",
        status: 409,
        message: expect.stringContaining('table "credentials", row "credential-1", column "sealed_secret"'),
      });
    }
    expect(readFileSync(house.path).equals(bytes)).toBe(true);
    expect((await services.backups.read().list({})).items).toEqual([]);
    const entries = await house.audited("encryption_key_rotated");
    expect(entries[0]).toMatchObject({ outcome: "failed", detail: { table: "credentials", id: "credential-1" } });
  });

  test("the page names each unreadable secret, and where to enter it again or delete it", async () => {
    house = await keyHouse();
    const other = createSealer({ keys: { primary: generateFernetKey() }, clock: house.clock, onOpen: () => undefined });
    await house.db.write(async (tx) => {
      for (const column of sealedColumns) {
        for (const { rowid } of await listSealedValues(tx, column, -1, 100))
          await storeSealedValue(tx, column, rowid, other.seal("of another installation"));
      }
    });
    const refused = await house.person.post("/settings/keys/encryption", password);
    expect(refused.status).toBe(409);
    for (const [href, name] of [
      ["/credentials/credential-1/edit", "registry"],
      ["/notifiers/notifier-1/edit", "hook"],
      ["/settings/sign-in-provider/edit", "IdP"],
      ["/executors/executor-1/snapshots/snapshot-1", "web:1"],
      ["/runs/run-0#run-logs", "web"],
    ] as const) {
      expect(refused.text).toContain(`href="${href}"><bdi>${name}</bdi>`);
      expect({ href, status: (await house.person.get(href.replace(/#.*/, ""))).status }).toEqual({ href, status: 200 });
    }
    for (const kept of ["Stored API response", "Unfinished sign-in"]) expect(refused.text).toContain(kept);
    const answer = await house.person.api("POST", "/security-keys/encryption/rotations", password);
    expect(answer.body).toMatchObject({
      error: { code: "corrupt_secret", message: expect.stringContaining("decrypts 7 secrets") },
    });
  });

  test("an unreadable response or sign-in prevents it until it has expired", async () => {
    house = await keyHouse();
    const { db, clock, services } = house;
    const day = 86_400_000;
    const rotate = () => services.security_keys.rotateEncryptionKey(actor, house.session, password);
    const age = (ms: number) =>
      db.write(async (tx) => {
        const [created_at, expires_at] = [clock.now() - 2 * day - ms, clock.now() - day - ms];
        await tx.update(idempotency_keys).set({ sealed_outcome: sql`'damaged'`, created_at });
        await tx.update(oidc_attempts).set({ sealed_secrets: sql`'damaged'`, expires_at });
      });
    await age(-1);
    const places = [{ table: "idempotency_keys" }, { table: "oidc_attempts" }];
    await expect(rotate()).rejects.toMatchObject({ code: "corrupt_secret", places });
    await age(1);
    await rotate();
    expect(await openAll(house, house.stored().encryption.primary)).toHaveLength(sealedColumns.length - 2);
  });

  test.each(["page", "API"])("a log that nobody can read prevents it until it is deleted: %s", async (surface) => {
    house = await keyHouse();
    const { person } = house;
    const [{ sealed_lines: good } = { sealed_lines: "" }] = await house.db.read.select().from(run_logs);
    const lines = sql`${`${good.slice(0, 60)}AAAA${good.slice(64)}`}`;
    await house.db.write(async (tx) => {
      const log = { id: "log-2", run_id: "run-0", key: "db", pod: "", container: "db", is_previous: false, at: 1 };
      await tx.insert(run_logs).values({ ...log, sealed_lines: house.sealer.sealJson(["still readable"]) });
      await tx.update(run_logs).set({ sealed_lines: lines }).where(eq(run_logs.id, "log-1"));
    });
    const rotate = () => person.post("/settings/keys/encryption", password);
    const refused = await rotate();
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("/runs/run-0#run-logs");
    const run = await person.get("/runs/run-0");
    expect(run.text).toContain("/runs/run-0/logs/log-1/delete");
    expect(run.text).not.toContain("/runs/run-0/logs/log-2/delete");
    const { body } = await person.api("GET", "/runs/run-0");
    expect(body).toMatchObject({
      logs: [
        { id: "log-1", lines: [], why: null, problem: { code: "secret_unreadable" } },
        { id: "log-2", lines: ["still readable"], problem: null },
      ],
    });
    const path = "/runs/run-0/logs/log-1";
    if (surface === "page") {
      expect((await person.get(`${path}/delete`)).text).toContain("belongs to another key");
      expect((await person.post(`${path}/delete`)).status).toBe(303);
    } else expect((await person.api("DELETE", path)).status).toBe(204);
    expect((await person.api("DELETE", path)).status).toBe(404);
    expect(await house.audited("run_log_deleted")).toMatchObject([
      { outcome: "ok", subject: { kind: "run", id: "run-0", name: "web" }, detail: { container: "web" } },
    ]);
    expect((await rotate()).status).toBe(200);
    const kept = await openAll(house, house.stored().encryption.primary);
    expect(kept.filter((text) => text.includes("still readable"))).toHaveLength(1);
  });

  test("what fails within the transaction is undone, key file and all", async () => {
    house = await keyHouse();
    const old = house.keys.encryption.primary;
    const before = await openAll(house, old);
    // A trigger of the database stands in for whatever can fail there.
    await house.db.client.execute(
      "CREATE TRIGGER refuse BEFORE UPDATE OF sealed_content ON snapshots BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    await expect(house.services.security_keys.rotateEncryptionKey(actor, house.session, password)).rejects.toThrow();
    expect(house.stored().encryption).toEqual({ primary: old });
    expect(await openAll(house, old)).toEqual(before);
    const failed = await house.audited("encryption_key_rotated");
    expect(failed).toMatchObject([{ actor: "admin", outcome: "failed", detail: { reason: "internal_error" } }]);
    const created = await house.services.credentials.create(actor, {
      name: "later",
      kind: "oci",
      secret: { username: "u", password: "p" },
    });
    expect(await openAll(house, old)).toHaveLength(sealedColumns.length + 1);
    expect(created.name).toBe("later");
    await house.db.client.execute("DROP TRIGGER refuse");
    await house.services.security_keys.rotateEncryptionKey(actor, house.session, password);
    expect(await openAll(house, house.stored().encryption.primary)).toHaveLength(sealedColumns.length + 1);
  });

  test("says that the new key is in force when the former one stays in the key file", async () => {
    house = await keyHouse();
    const { db, services, session, path } = house;
    const old = house.keys.encryption.primary;
    const write = db.write;
    db.write = async (work) => {
      const result = await write(work);
      // Once every secret is under the new key: nothing can be written beside the key file any more.
      if (house.stored().encryption.previous !== undefined)
        mkdirSync(join(`${path}.tmp`, "in-the-way"), { recursive: true });
      return result;
    };
    const failed = services.security_keys.rotateEncryptionKey(actor, session, password);
    const error = await failed.catch((thrown: unknown) => thrown);
    const said = { code: "keys.rotation_incomplete", params: { name: "encryption" } };
    expect(error).toMatchObject({ code: "rotation_incomplete", status: 500, said });
    db.write = write;
    rmSync(`${path}.tmp`, { recursive: true });
    const { primary, previous } = house.stored().encryption;
    expect(previous).toEqual([old]);
    expect(await openAll(house, primary)).toHaveLength(sealedColumns.length);
    const { encryption } = await services.security_keys.get();
    expect(encryption).toMatchObject({
      id: keyId(primary),
      rotation_refusal_data: { code: "keys.rotation_unfinished" },
    });
  });

  test.each([
    ["a wrong password", { current_password: "not the one at all" }, 422],
    ["no password", {}, 422],
    ["an unknown field", { ...password, force: true }, 422],
  ])("refuses %s and makes no backup", async (_name, input, status) => {
    house = await keyHouse();
    const bytes = readFileSync(house.path);
    await expect(house.services.security_keys.rotateEncryptionKey(actor, house.session, input)).rejects.toMatchObject({
      status,
    });
    expect(readFileSync(house.path).equals(bytes)).toBe(true);
    expect(existsSync(house.file("backups"))).toBe(false);
  });

  test("refuses an API token, and a second rotation at the same time", async () => {
    house = await keyHouse();
    const { security_keys } = house.services;
    const token = { ...house.session, kind: "api_token" as const };
    await expect(security_keys.rotateEncryptionKey(actor, token, password)).rejects.toMatchObject({ status: 403 });
    const answers = await Promise.allSettled([
      security_keys.rotateEncryptionKey(actor, house.session, password),
      security_keys.rotateEncryptionKey(actor, house.session, password),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(house.stored().encryption.previous).toBeUndefined();
  });

  test("goes to where the key file's link leads, and leaves no former key there", async () => {
    house = await keyHouse();
    const real = join(mkdtempSync(join(tmpdir(), "tidemark-real-")), "keys-of-tidemark.json");
    const before = house.stored().encryption.primary;
    renameSync(house.path, real);
    symlinkSync(real, house.path);
    await house.services.security_keys.rotateEncryptionKey(actor, house.session, password);
    expect(readlinkSync(house.path)).toBe(real);
    expect(house.stored().encryption.primary).not.toBe(before);
    expect(readFileSync(real, "utf8")).not.toContain(before);
    expect(statSync(real).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(real))).toEqual(["keys-of-tidemark.json"]);
  });

  test("refuses when the key file was changed since the start", async () => {
    house = await keyHouse();
    const { session } = house.stored();
    writeKeyFile(house.path, { format: 1, session, encryption: { primary: generateFernetKey() } });
    const bytes = readFileSync(house.path);
    await expect(
      house.services.security_keys.rotateEncryptionKey(actor, house.session, password),
    ).rejects.toMatchObject({ status: 409, said: { code: "keys.file_changed" } });
    expect(readFileSync(house.path).equals(bytes)).toBe(true);
    const failed = { outcome: "failed", detail: { reason: "rotation_refused" } };
    expect(await house.audited("encryption_key_rotated")).toMatchObject([failed]);
    const rotateSession = house.services.security_keys.rotateSessionKey(actor, house.session, password);
    // The session key is as it was at the start, and goes where it is.
    expect((await rotateSession).ended_sessions).toBeGreaterThan(0);
  });

  test.each([
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: generateFernetKey() }],
    ["KEYS_FILE", { KEYS_FILE: "/run/secrets/keys.json" }],
  ])("refuses a key that %s gives, and says why", async (variable, env) => {
    house = await keyHouse(env);
    const { encryption } = await house.services.security_keys.get();
    expect(encryption).toMatchObject({ managed_by: variable, rotation_refusal: expect.stringContaining(variable) });
    await expect(
      house.services.security_keys.rotateEncryptionKey(actor, house.session, password),
    ).rejects.toMatchObject({ code: "rotation_refused", status: 409, message: encryption.rotation_refusal ?? "" });
    const { rotation_refusal: reason, rotation_refusal_data: reason_data } = encryption;
    expect(await house.audited("encryption_key_rotated")).toMatchObject([
      { outcome: "refused", detail: { reason, reason_data } },
    ]);
  });
});
