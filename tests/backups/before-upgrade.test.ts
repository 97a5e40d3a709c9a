import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backupBeforeUpgrade } from "../../src/backups/write-backup.ts";
import { openDatabase } from "../../src/db/client.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

test("the copy before an upgrade opens by itself, is nobody else's to read, and leaves nothing beside it", async () => {
  const { db, dir, close } = await temporaryDatabase();
  await db.client.execute("INSERT INTO settings (key, value, updated_at) VALUES ('timezone', '\"UTC\"', 0)");
  await backupBeforeUpgrade(join(dir, "tidemark.db"), dir, 1);
  const path = join(dir, "backups/before-upgrade-1/tidemark.db");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(dir, "backups"), { recursive: true }).toSorted()).toEqual([
    "before-upgrade-1",
    "before-upgrade-1/manifest.json",
    "before-upgrade-1/tidemark.db",
  ]);
  const copy = await openDatabase({ url: `file:${path}` });
  expect((await copy.client.execute("SELECT value FROM settings")).rows[0]?.[0]).toBe('"UTC"');
  await copy.close();
  await close();
});

test("what a crash left of an earlier copy does not keep the next from being made", async () => {
  const { dir, close } = await temporaryDatabase();
  await backupBeforeUpgrade(join(dir, "tidemark.db"), dir, 1);
  writeFileSync(join(dir, "backups/before-upgrade-2.db.tmp"), "an earlier version's");
  mkdirSync(join(dir, "backups/before-upgrade-2.tmp"));
  writeFileSync(join(dir, "backups/before-upgrade-2.tmp/tidemark.db.tmp"), "half");
  await backupBeforeUpgrade(join(dir, "tidemark.db"), dir, 2);
  expect(readdirSync(join(dir, "backups")).sort()).toEqual(["before-upgrade-1", "before-upgrade-2"]);
  await close();
});
