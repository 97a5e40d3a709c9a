import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { type LocalDatabase, openLocal } from "../../src/db/local-client.ts";
import { createWriteQueue, type WriteQueue } from "../../src/db/write-queue.ts";

let dir = "";
let plain: Client;
let store: LocalDatabase;
let queue: WriteQueue<Client>;
let commits = 0;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-queue-"));
  plain = createClient({ url: `file:${dir}/test.db` });
  await plain.executeMultiple("PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT UNIQUE)");
  const opened = openLocal(plain, `${dir}/test.db`);
  commits = 0;
  store = {
    ...opened,
    commit: () => {
      commits += 1;
      opened.commit();
    },
  };
  queue = createWriteQueue({ store, writer: store.writing, retry: (transaction) => transaction() });
});
afterEach(async () => {
  await queue.idle();
  store.close();
  plain.close();
  rmSync(dir, { recursive: true, force: true });
});

const insert = (text: string) => (writer: Client) =>
  writer.execute({ sql: "INSERT INTO notes VALUES (?)", args: [text] });
const texts = async () => (await plain.execute("SELECT text FROM notes ORDER BY rowid")).rows.map((row) => row[0]);

describe("createWriteQueue()", () => {
  test("lets works that wait at the same moment share a commit, in their order", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `note ${index}`);
    const answers = await Promise.all(
      names.map((name) =>
        queue.write(async (writer) => {
          await insert(name)(writer);
          return name;
        }),
      ),
    );
    expect(answers).toEqual(names);
    expect(await texts()).toEqual(names);
    expect(commits).toBe(3);
  });

  test("answers only when what was written can be read by others", async () => {
    const seen = ["a", "b", "c"].map(async (name) => {
      await queue.write(insert(name));
      return (await texts()).includes(name);
    });
    expect(await Promise.all(seen)).toEqual([true, true, true]);
  });

  test("undoes a work that throws, and only that one", async () => {
    const results = await Promise.allSettled([
      queue.write(insert("first")),
      queue.write(async (writer) => {
        await insert("lost")(writer);
        throw new Error("no");
      }),
      queue.write(insert("first")),
      queue.write(insert("last")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(await texts()).toEqual(["first", "last"]);
  });

  test("rolls a single work back that throws, and goes on", async () => {
    const failing = queue.write(async (writer) => {
      await insert("lost")(writer);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await queue.write(insert("kept"));
    expect(await texts()).toEqual(["kept"]);
  });

  test("does every work by itself when the engine ends the shared transaction", async () => {
    let times = 0;
    const breaking = async (writer: Client) => {
      times += 1;
      if (times > 1) return insert("broke once")(writer);
      store.rollback();
      throw new Error("database or disk is full");
    };
    await Promise.all([queue.write(insert("before")), queue.write(breaking), queue.write(insert("after"))]);
    expect(await texts()).toEqual(["before", "broke once", "after"]);
  });

  test("goes on after works that met the lock of another process together", async () => {
    const other = createClient({ url: `file:${dir}/test.db` });
    const held = await other.transaction("write");
    const met = await Promise.allSettled([queue.write(insert("a")), queue.write(insert("b"))]);
    expect(met.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await held.commit();
    other.close();
    await Promise.all([queue.write(insert("c")), queue.write(insert("d"))]);
    expect(await texts()).toEqual(["c", "d"]);
  });

  test("takes a work that another one asks for at its end", async () => {
    const chain = async (left: number): Promise<void> => {
      await queue.write(insert(`link ${left}`));
      if (left > 0) await chain(left - 1);
    };
    await chain(20);
    expect((await texts()).length).toBe(21);
  });

  test("is idle only after everything that was asked for", async () => {
    const writes = [queue.write(insert("a")), queue.write(insert("b"))];
    await queue.idle();
    expect(await texts()).toEqual(["a", "b"]);
    await Promise.all(writes);
  });
});
