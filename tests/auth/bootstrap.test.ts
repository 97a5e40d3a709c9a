import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AuthHouse, authHouse } from "./auth-house.ts";

let house: AuthHouse;
beforeEach(async () => {
  house = await authHouse();
});
afterEach(() => house.close());

const count = async (table: string) =>
  Number((await house.db.client.execute(`SELECT count(*) FROM ${table}`)).rows[0]?.[0]);

describe("bootstrapAdministrator()", () => {
  test("creates the administrator and logs its password as the last word of exactly one INFO line", async () => {
    const id = await house.bootstrap();
    expect(house.lines).toHaveLength(1);
    expect(house.lines[0]).toMatch(/^\S+ INFO .* bootstrap password [a-z0-9]{26}$/);
    const { session, password_change_required } = await house.signIn(house.bootstrapPassword());
    expect(session).toMatchObject({ administrator_id: id, username: "admin", is_password_change_required: true });
    expect(password_change_required).toBe(true);
  });

  test("says nothing and keeps the id on later starts", async () => {
    const id = await house.bootstrap();
    house.lines.length = 0;
    expect(await house.bootstrap()).toBe(id);
    expect(house.lines).toEqual([]);
    expect(await count("administrators")).toBe(1);
  });

  test("leaves the password in no file of the database and no audit entry", async () => {
    await house.bootstrap();
    const password = house.bootstrapPassword();
    expect(JSON.stringify(await house.audit_entries.list({}))).not.toContain(password);
    for (const name of readdirSync(house.dir)) {
      expect(readFileSync(join(house.dir, name)).includes(password)).toBe(false);
    }
  });

  test("makes one administrator and one line when two instances start at once", async () => {
    const [one, two] = await Promise.all([house.bootstrap(), house.bootstrap()]);
    expect(one).toBe(two);
    expect(house.lines).toHaveLength(1);
    expect((await house.signIn(house.bootstrapPassword())).session.administrator_id).toBe(one);
  });

  test("logs nothing when the record could not be committed", async () => {
    await house.db.client.execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON administrators BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END",
    );
    expect(house.bootstrap()).rejects.toThrow();
    await house.db.client.execute("DROP TRIGGER refuse");
    expect(house.lines).toEqual([]);
  });

  test.each([
    ["the record was deleted", ["DELETE FROM administrators"], "administrator record is missing"],
    [
      "the record and the stored id were deleted",
      ["DELETE FROM administrators", "DELETE FROM installation"],
      "administrator record is missing",
    ],
    [
      "the record and every trace of it were deleted, and something is stored",
      [
        "INSERT INTO notifiers (id, name, kind, description, is_enabled, language, trigger_events, sealed_config, destination, created_at, updated_at) VALUES ('a', 'a', 'webhook', '', 1, 'en', '[]', 'x', 'a.example', 0, 0)",
        "DELETE FROM administrators",
        "DELETE FROM installation",
        "DELETE FROM audit_entries",
      ],
      "administrator record is missing",
    ],
    ["the id was changed", ["UPDATE administrators SET id = 'other'"], "has the ID other, but the stored"],
    ["the stored id was deleted", ["DELETE FROM installation"], "identity is missing"],
    [
      "there are two records",
      [
        "DROP INDEX administrators_singleton",
        "INSERT INTO administrators SELECT 'second', singleton, username, password_hash, is_password_change_required, session_epoch, password_changed_at, created_at, updated_at FROM administrators",
      ],
      "more than one administrator record",
    ],
  ])("refuses to start when %s, says how to recover and makes nothing", async (_name, statements, message) => {
    await house.bootstrap();
    house.lines.length = 0;
    for (const statement of ["PRAGMA foreign_keys = OFF", ...statements]) await house.db.client.execute(statement);
    const before = [await count("administrators"), await count("audit_entries"), await count("installation")];
    const failure = await house.bootstrap().catch((error: unknown) => String(error));
    expect(failure).toContain(message);
    expect(failure).toContain("restore the database from a backup");
    expect([await count("administrators"), await count("audit_entries"), await count("installation")]).toEqual(before);
    expect(house.lines).toEqual([]);
  });
});
