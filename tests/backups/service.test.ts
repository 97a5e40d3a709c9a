import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { maximumBackups } from "../../src/backups/schema.ts";
import { actor, keyHouse, password } from "../keys/key-house.ts";

type House = Awaited<ReturnType<typeof keyHouse>>;
let house: House;

afterEach(async () => await house.close());

async function rowsIn(path: string, sql: string): Promise<unknown> {
  const client = createClient({ url: `file:${path}` });
  const { rows } = await client.execute(sql);
  client.close();
  return rows[0]?.[0];
}

describe("backups", () => {
  test.each([
    [{}, true, ["keys.json", "manifest.json", "tidemark.db"]],
    [{ with_keys: true }, true, ["keys.json", "manifest.json", "tidemark.db"]],
    [{ with_keys: false }, false, ["manifest.json", "tidemark.db"]],
  ])("POST /api/backups %j is complete, private and checked", async (input, hasKeys, files) => {
    house = await keyHouse();
    const { status, body } = await house.person.api("POST", "/backups", input);
    const backup = house.services.backups.get(String(body.name));
    expect([status, body]).toMatchObject([201, { kind: "manual", has_keys: hasKeys, path: backup.path }]);
    expect(readdirSync(backup.path).toSorted()).toEqual(files);
    expect(statSync(backup.path).mode & 0o777).toBe(0o700);
    for (const file of files) expect(statSync(join(backup.path, file)).mode & 0o777).toBe(0o600);
    expect(await rowsIn(join(backup.path, "tidemark.db"), "PRAGMA integrity_check")).toBe("ok");
    expect(await rowsIn(join(backup.path, "tidemark.db"), "SELECT count(*) FROM credentials")).toBe(1);
    expect((await house.person.api("GET", `/backups/${backup.name}`)).body).toMatchObject({ name: backup.name });
    expect(await house.audited("backup_created")).toMatchObject([{ detail: { has_keys: hasKeys } }]);
  });

  test("lists the newest first, by pages, and deletes", async () => {
    house = await keyHouse();
    const { backups } = house.services;
    for (let count = 0; count < 3; count += 1) await backups.create(actor, {});
    writeFileSync(house.file("backups/before-upgrade-1700000000000.db"), "x");
    mkdirSync(house.file("backups/somebody-elses"));
    mkdirSync(house.file("backups/manual-5.tmp"));
    const first = await backups.read().list({ limit: "2" });
    const second = await backups.read().list({ limit: "2", cursor: first.next_cursor ?? "" });
    const listed = [...first.items, ...second.items];
    expect(listed.map(({ kind }) => kind)).toContain("before-upgrade");
    expect([listed.length, second.next_cursor]).toEqual([4, null]);
    expect(listed.map(({ created_at }) => created_at)).toEqual(
      listed.map(({ created_at }) => created_at).toSorted((a, b) => b - a),
    );
    for (const { name } of listed) expect((await house.person.api("DELETE", `/backups/${name}`)).status).toBe(204);
    expect(readdirSync(house.file("backups"))).toEqual(["manual-5.tmp", "somebody-elses"]);
    // What a crash left is gone with the next one.
    await backups.create(actor, {});
    expect(existsSync(house.file("backups/manual-5.tmp"))).toBe(false);
    expect(existsSync(house.file("backups/somebody-elses"))).toBe(true);
  });

  test.each([
    "..",
    "%2e%2e",
    "..%2f..%2fetc",
    "manual-1%2f..%2f..",
    "manual-1.tmp",
    "keys.json",
    "manual-1.db",
    "before-upgrade-1",
    "MANUAL-1",
    "manual-",
    "manual-1%00",
  ])("there is no backup %s, to read or to delete", async (name) => {
    house = await keyHouse();
    for (const method of ["GET", "DELETE"]) {
      const { status } = await house.person.api(method, `/backups/${name}`);
      expect([404, 400]).toContain(status);
    }
    expect(existsSync(house.path)).toBe(true);
  });

  test("the next one beyond the bound is refused, also before a rotation, and nothing is removed by itself", async () => {
    house = await keyHouse();
    for (let at = 1; at <= maximumBackups; at += 1) mkdirSync(house.file(`backups/manual-${at}`), { recursive: true });
    const { status, body } = await house.person.api("POST", "/backups", {});
    expect([status, body]).toMatchObject([
      409,
      { error: { message: expect.stringContaining("There are 20 backups") } },
    ]);
    const before = house.stored();
    await expect(
      house.services.security_keys.rotateEncryptionKey(actor, house.session, password),
    ).rejects.toMatchObject({ status: 409 });
    expect(house.stored()).toEqual(before);
    expect(readdirSync(house.file("backups"))).toHaveLength(maximumBackups);
    const page = await house.person.post("/settings/backups", { with_keys: "on" });
    expect([page.status, page.text]).toEqual([409, expect.stringContaining("There are 20 backups")]);
  });

  test("a database on a server and keys of KEYS_FILE are left to their owner", async () => {
    house = await keyHouse({ KEYS_FILE: "/run/secrets/keys.json" });
    const made = await house.services.backups.create(actor, {});
    expect(made.has_keys).toBe(false);
  });

  test("what is written while one is made is whole in it, or not in it", async () => {
    house = await keyHouse();
    const { services } = house;
    const write = (index: number) =>
      services.credentials.create(actor, {
        name: `c${index}`,
        kind: "oci",
        secret: { username: "u", password: "pass-word" },
      });
    const writing = Promise.all(Array.from({ length: 200 }, (_, index) => write(index)));
    const made = await services.backups.create(actor, {});
    await writing;
    const file = join(made.path, "tidemark.db");
    const stored = Number(await rowsIn(file, "SELECT count(*) FROM credentials WHERE name LIKE 'c%'"));
    const audited = await rowsIn(file, "SELECT count(*) FROM audit_entries WHERE event = 'credential_created'");
    // A credential and its audit entry are one transaction.
    expect(audited).toBe(stored);
    expect(await rowsIn(file, "PRAGMA integrity_check")).toBe("ok");
    expect(await house.db.read.$count((await import("../../src/db/tables.ts")).credentials)).toBe(201);
  });

  test("a second one at the same time is refused, and the page makes, shows and deletes one", async () => {
    house = await keyHouse();
    const both = await Promise.allSettled([
      house.services.backups.create(actor, {}),
      house.services.backups.create(actor, {}),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const [{ name } = { name: "" }] = (await house.services.backups.read().list({})).items;
    expect((await house.person.get("/settings/backups")).text).toContain(name);
    expect((await house.person.get(`/settings/backups/${name}/delete`)).text).toContain("permanently deleted");
    expect((await house.person.post(`/settings/backups/${name}/delete`)).location).toBe("/settings/backups");
    expect((await house.person.get("/settings/backups")).text).toContain("No backups yet");
    expect((await house.person.post("/settings/backups", {})).location).toBe("/settings/backups");
    expect((await house.services.backups.read().list({})).items).toMatchObject([{ has_keys: false }]);
  });
});
