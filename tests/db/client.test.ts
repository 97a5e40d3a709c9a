import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LibsqlError } from "@libsql/client/sqlite3";
import Sqlite from "libsql";
import { isUniqueViolation, openDatabase } from "../../src/db/client.ts";
import { lockDataDir } from "../../src/db/lock.ts";
import { unreadableDatabase } from "../../src/db/migrate.ts";
import { run_steps, settings } from "../../src/db/tables.ts";
import { notFound } from "../../src/errors.ts";
import { say } from "../../src/messages/message.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";

let temporary: TemporaryDatabase;
beforeEach(async () => {
  temporary = await temporaryDatabase();
});
afterEach(() => temporary.close());

const row = (key: string) => ({ key, value: key, updated_at: 0 });

describe("openDatabase()", () => {
  test("waits until another program gives its lock back", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "tidemark-locked-")), "tidemark.db");
    const holder = new Sqlite(path);
    holder.exec("PRAGMA journal_mode = WAL; PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE held (value)");
    const opening = openDatabase({ url: `file:${path}` });
    const first = await Promise.race([opening.then(() => "opened", String), Bun.sleep(50).then(() => "waiting")]);
    expect(first).toBe("waiting");
    holder.close();
    await (await opening).close();
  });

  test("a lock that stays is no damage", () => {
    const locked = new LibsqlError("database is locked", "SQLITE_BUSY");
    expect(unreadableDatabase("/data/tidemark.db", locked).said).toEqual(
      say("database.locked", { path: "/data/tidemark.db" }),
    );
  });
});

describe("write()", () => {
  test("takes 300 writers at once and lets reads through meanwhile", async () => {
    const { db } = temporary;
    const writes = Array.from({ length: 300 }, (_, index) =>
      db.write((tx) => tx.insert(settings).values(row(`key-${index}`))),
    );
    const read = await db.read.select().from(settings).limit(1000);
    await Promise.all(writes);
    expect(read.length).toBeLessThanOrEqual(300);
    expect(await db.read.$count(settings)).toBe(300);
  });

  test("rolls back everything when the work throws, and goes on with the next", async () => {
    const { db } = temporary;
    const failing = db.write(async (tx) => {
      await tx.insert(settings).values(row("lost"));
      throw new Error("no");
    });
    const next = db.write((tx) => tx.insert(settings).values(row("kept")));
    await expect(failing).rejects.toThrow("no");
    await next;
    expect((await db.read.select().from(settings).limit(10)).map(({ key }) => key)).toEqual(["kept"]);
  });

  test.each(["SQLITE_BUSY", "database is locked", "ENOSPC", "SQLITE_FULL", "UNIQUE constraint failed"])(
    "takes no refusal for a fault of the database, though it quotes %s",
    async (text) => {
      const { db } = temporary;
      let tries = 0;
      const failing = db.write(async () => {
        tries += 1;
        throw notFound("tracker", text);
      });
      await expect(failing).rejects.toMatchObject({ status: 404 });
      expect(tries).toBe(1);
      const query = db.write(async (tx) => {
        tries += 1;
        await tx.insert(run_steps).values({ run_id: text, seq: 1, step: "x", phase: "begin", facts: {}, at: 0 });
      });
      const fault = await query.catch((error: unknown) => error);
      expect(String(fault)).toContain(text);
      expect(isUniqueViolation(fault)).toBe(false);
      expect(tries).toBe(2);
    },
  );

  test("waits for another process's transaction instead of failing", async () => {
    const { db, dir } = temporary;
    const other = await openDatabase({ url: `file:${join(dir, "tidemark.db")}` });
    const transaction = await other.client.transaction("write");
    const write = db.write((tx) => tx.insert(settings).values(row("after")));
    await Bun.sleep(30);
    await transaction.commit();
    await write;
    await other.close();
    expect(await db.read.$count(settings)).toBe(1);
  });

  test("enforces foreign keys inside a transaction too", async () => {
    const { db } = temporary;
    const step = { run_id: "none", seq: 1, step: "x", phase: "begin", facts: {}, at: 0 } as const;
    const orphan = db.write((tx) => tx.insert(run_steps).values(step));
    // What the query builder throws repeats the statement; what lies beneath says why.
    const error = await orphan.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error instanceof Error ? String(error.cause ?? error) : error).toContain("FOREIGN KEY");
  });
});

describe("lockDataDir()", () => {
  test("refuses a second holder with a sentence, and lets the next one in after release", async () => {
    const lock = await lockDataDir(temporary.dir);
    await expect(lockDataDir(temporary.dir)).rejects.toThrow("Another Tidemark process is using the data directory");
    lock.release();
    (await lockDataDir(temporary.dir)).release();
  });

  test("remembers for the next one that it was used, and is held meanwhile", async () => {
    const dir = mkdtempSync(join(temporary.dir, "used-"));
    const first = await lockDataDir(dir);
    expect(first.was_used).toBe(false);
    first.release();
    const second = await lockDataDir(dir);
    expect(second.was_used).toBe(false);
    await second.noteUse();
    await expect(lockDataDir(dir)).rejects.toThrow("Another Tidemark process is using the data directory");
    second.release();
    const third = await lockDataDir(dir);
    expect(third.was_used).toBe(true);
    await third.noteUse();
    await expect(lockDataDir(dir)).rejects.toThrow("Another Tidemark process is using the data directory");
    third.release();
  });

  test("stays held where the use cannot be noted, because another process looks at its file", async () => {
    const dir = mkdtempSync(join(temporary.dir, "busy-"));
    const first = await lockDataDir(dir);
    const looking = new Sqlite(join(dir, "tidemark.lock"));
    looking.exec("BEGIN");
    looking.prepare("SELECT count(*) FROM sqlite_master").all([]);
    await first.noteUse();
    await expect(lockDataDir(dir)).rejects.toThrow("Another Tidemark process is using the data directory");
    looking.close();
    first.release();
  });

  test("writes nothing where it was held before, so that a full disk keeps nobody from starting", async () => {
    (await lockDataDir(temporary.dir)).release();
    const before = readdirSync(temporary.dir).toSorted();
    const lock = await lockDataDir(temporary.dir);
    expect(readdirSync(temporary.dir).toSorted()).toEqual(before);
    lock.release();
  });
});
