import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { type LocalDatabase, openLocal } from "../../src/db/local-client.ts";

let dir = "";
let plain: Client;
let store: LocalDatabase;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-client-"));
  plain = createClient({ url: `file:${dir}/test.db` });
  await plain.executeMultiple(
    "PRAGMA journal_mode = WAL; CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)",
  );
  store = openLocal(plain, `${dir}/test.db`);
});
afterEach(() => {
  store.close();
  plain.close();
  rmSync(dir, { recursive: true, force: true });
});

const add = (text: string | null) => ({ sql: "INSERT INTO notes (text) VALUES (?)", args: [text] });
const texts = async () => (await store.reading.execute("SELECT text FROM notes ORDER BY id")).rows.map((row) => row[0]);

describe("openLocal()", () => {
  test.each([
    ["foreign_keys", 1],
    ["synchronous", 2],
    ["journal_mode", "wal"],
  ])("has %s as %p for reading and for writing", async (pragma, value) => {
    expect((await store.reading.execute(`PRAGMA ${pragma}`)).rows[0]?.[0]).toBe(value);
    store.begin();
    expect((await store.writing.execute(`PRAGMA ${pragma}`)).rows[0]?.[0]).toBe(value);
    store.rollback();
  });

  test.each([
    ["a text", "a"],
    ["an empty text", ""],
    ["null", null],
    ["a number", 1.5],
    ["an instant", 1_795_225_929_100],
    ["a negative number", -7],
  ])("gives back %s as it was given", async (_name, value) => {
    expect((await store.reading.execute({ sql: "SELECT ?", args: [value] })).rows[0]?.[0]).toBe(value);
  });

  test("takes booleans as 1 and 0, and refuses what cannot be stored", async () => {
    const answer = await store.reading.execute({ sql: "SELECT ?, ?", args: [true, false] });
    expect([answer.rows[0]?.[0], answer.rows[0]?.[1]]).toEqual([1, 0]);
    await expect(store.reading.execute({ sql: "SELECT ?", args: [Number.NaN] })).rejects.toThrow("finite");
  });

  test("asks the same statement again with other values", async () => {
    store.begin();
    for (const text of ["a", "b", "c"]) expect((await store.writing.execute(add(text))).rowsAffected).toBe(1);
    store.commit();
    const find = async (text: string) =>
      (await store.reading.execute({ sql: "SELECT id FROM notes WHERE text = ?", args: [text] })).rows.map(
        (row) => row[0],
      );
    expect([await find("c"), await find("none"), await find("a")]).toEqual([[3], [], [1]]);
  });

  test("has more statements than it keeps", async () => {
    const ask = async (number: number) => (await store.reading.execute(`SELECT ${number}`)).rows[0]?.[0];
    for (let number = 0; number < 450; number += 1) expect(await ask(number)).toBe(number);
    expect(await ask(0)).toBe(0);
  });

  test("sees a table's new shape with a statement that it asked before", async () => {
    expect(await texts()).toEqual([]);
    await plain.executeMultiple(
      "ALTER TABLE notes ADD COLUMN more TEXT; INSERT INTO notes (text, more) VALUES ('a', 'b')",
    );
    expect(await texts()).toEqual(["a"]);
  });

  test("goes on with a statement that failed before", async () => {
    store.begin();
    await store.writing.execute(add("a"));
    await expect(store.writing.execute(add("a"))).rejects.toThrow("UNIQUE constraint failed");
    await store.writing.execute(add("b"));
    store.commit();
    expect(await texts()).toEqual(["a", "b"]);
  });

  test("shows readers nothing of a transaction before its commit, and nothing of one rolled back", async () => {
    store.begin();
    await store.writing.execute(add("a"));
    expect(await texts()).toEqual([]);
    store.rollback();
    expect(await texts()).toEqual([]);
    store.begin();
    await store.writing.execute(add("b"));
    store.commit();
    expect(await texts()).toEqual(["b"]);
  });

  test("writes nothing outside of a transaction", async () => {
    await expect(store.writing.execute(add("early"))).rejects.toThrow("The transaction is closed");
    store.begin();
    store.commit();
    await expect(store.writing.execute(add("late"))).rejects.toThrow("The transaction is closed");
    store.rollback();
    expect(await texts()).toEqual([]);
  });

  test("tells that another process holds the lock, and writes once it is free", async () => {
    const other = await plain.transaction("write");
    expect(() => store.begin()).toThrow("database is locked");
    await other.commit();
    store.begin();
    await store.writing.execute(add("after"));
    store.commit();
    expect(await texts()).toEqual(["after"]);
  });
});
