import { describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { schemaDifference } from "../../src/db/expected-schema.ts";
import { checkDatabase, inspectDatabaseFile, knownMigrations, migrate } from "../../src/db/migrate.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";

const migrations = join(import.meta.dir, "../../migrations");
const emptyDir = () => mkdtempSync(join(tmpdir(), "tidemark-migrate-"));

/** A folder with the first migrations alone. */
function firstMigrations(count: number): string {
  const folder = emptyDir();
  cpSync(migrations, folder, { recursive: true });
  const path = join(folder, "meta/_journal.json");
  const journal = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }));
  return folder;
}

/** How many migrations come before one. */
const countBefore = (name: string) => knownMigrations(migrations).findIndex(({ tag }) => tag.endsWith(name));

async function databaseOf(folder: string): Promise<Client> {
  const client = createClient({ url: `file:${join(folder, "old.db")}` });
  await migrate({ client, folder, now: 1, backup: null });
  return client;
}

describe("migrate()", () => {
  test("does nothing the second time", async () => {
    const { db, close } = await temporaryDatabase();
    expect(await migrate({ client: db.client, folder: migrations, now: 1, backup: null })).toBe(0);
    await close();
  });

  test("makes a backup before it changes a database that has data, and applies what is new", async () => {
    const folder = emptyDir();
    cpSync(migrations, folder, { recursive: true });
    const { db, close } = await temporaryDatabase();
    const journal = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8"));
    journal.entries.push({ idx: journal.entries.length, tag: "9999_more" });
    writeFileSync(join(folder, "meta/_journal.json"), JSON.stringify(journal));
    writeFileSync(
      join(folder, "9999_more.sql"),
      "CREATE TABLE more (id INTEGER);--> statement-breakpoint\nINSERT INTO more VALUES (1);",
    );
    let backups = 0;
    const backup = async () => {
      backups += 1;
    };
    expect(await migrate({ client: db.client, folder, now: 1, backup })).toBe(1);
    expect(backups).toBe(1);
    expect((await db.client.execute("SELECT id FROM more")).rows[0]?.[0]).toBe(1);
    await expect(migrate({ client: db.client, folder: migrations, now: 2, backup })).rejects.toThrow("newer version");
    await close();
  });

  test("names each channel after its type with all that it has, and notes where each connection leads", async () => {
    const client = await databaseOf(firstMigrations(countBefore("_channel_names")));
    await client.executeMultiple(`
      INSERT INTO trackers (id, name, check_interval_minutes, fetch_depth, request_timeout_seconds, sorting, created_at, updated_at)
        VALUES ('t', 'web', 1, 1, 1, 'semantic', 1, 1);
      INSERT INTO tracker_sources (id, tracker_id, key, position, kind, config, host, next_check_at)
        VALUES ('s', 't', 'main', 0, 'oci', '{}', 'h', 1);
      INSERT INTO releases (id, source_id, version, tag, stage, first_observed_at) VALUES ('r', 's', '1', '1', 'tag', 1);
      INSERT INTO tracker_channels (id, source_id, type, position, include_pattern, requires_agreement, baseline_at, latest_release_id)
        VALUES ('a', 's', 'stable', 0, '^1', 1, 7, 'r'), ('b', 's', 'beta', 1, '', 0, NULL, NULL);
      INSERT INTO connections (id, name, kind, config, created_at, updated_at)
        VALUES ('c', 'c', 'docker', '{"address":"unix:///var/run/docker.sock"}', 1, 1),
               ('d', 'd', 'podman', '{"address":"/run/podman/podman.sock"}', 1, 1),
               ('e', 'e', 'docker', '{"address":"tcp://Engine.Test:2375/"}', 1, 1);
    `);
    expect(await migrate({ client, folder: migrations, now: 2, backup: null })).toBeGreaterThan(0);
    const { rows } = await client.execute(
      "SELECT id, name, type, include_pattern, requires_agreement, baseline_at, latest_release_id FROM tracker_channels ORDER BY position",
    );
    expect(rows.map((row) => Object.values(row))).toEqual([
      ["a", "stable", "stable", "^1", 1, 7, "r"],
      ["b", "beta", "beta", "", 0, null, null],
    ]);
    const found = await client.execute("SELECT place, config ->> '$.address' AS address FROM connections ORDER BY id");
    expect(found.rows.map(({ place }) => place)).toEqual(
      found.rows.map(({ address }) => runtimes.docker.place({ address: String(address) }, null)),
    );
    await client.execute("DELETE FROM tracker_sources");
    expect((await client.execute("SELECT * FROM tracker_channels")).rows).toEqual([]);
    client.close();
  });

  test("moves what checks remember into its own table, and changes nothing else", async () => {
    const count = countBefore("_source_memos");
    const client = await databaseOf(firstMigrations(count));
    const large = "1.2.3 größer\n".repeat(150_000);
    await client.executeMultiple(`
      INSERT INTO credentials (id, name, kind, description, sealed_secret, created_at, updated_at)
        VALUES ('c', 'token', 'github', 'd', 'sealed', 1, 2);
      INSERT INTO trackers (id, name, check_interval_minutes, fetch_depth, request_timeout_seconds, sorting, created_at, updated_at)
        VALUES ('t', 'web', 1, 1, 1, 'semantic', 1, 1);
      INSERT INTO tracker_sources (id, tracker_id, key, position, kind, config, credential_id, host, next_check_at,
          check_requested_at, lease_owner, lease_until, baseline_at, last_checked_at, last_success_at, last_error_code,
          last_error_message, failing_since, last_request_count, last_byte_count, last_duration_ms, upstream_total, moved_to,
          rotation, memo)
        VALUES ('s', 't', 'main', 0, 'github', '{"a":1}', 'c', 'h', 1, 2, 'o', 3, 4, 5, 6, 'e', 'm', 7, 8, 9, 10, 11, 'to', 12, 'all');
      INSERT INTO tracker_sources (id, tracker_id, key, position, kind, config, next_check_at, memo)
        VALUES ('fresh', 't', 'fresh', 1, 'oci', '{}', 1, NULL), ('blank', 't', 'blank', 2, 'oci', '{}', 1, ''),
               ('large', 't', 'large', 3, 'oci', '{}', 1, NULL);
      INSERT INTO releases (id, source_id, version, tag, stage, first_observed_at) VALUES ('r', 's', '1', '1', 'tag', 1);
      INSERT INTO tracker_channels (id, source_id, name, type, position, latest_release_id)
        VALUES ('a', 's', 'stable', 'stable', 0, 'r');
      INSERT INTO connections (id, name, kind, config, created_at, updated_at) VALUES ('d', 'd', 'docker', '{}', 1, 1);
      INSERT INTO executors (id, name, connection_id, target_kind, target_id, trigger, image_selection, reference_mode,
          health_check, restore_on_failure, created_at, updated_at)
        VALUES ('x', 'x', 'd', 'container', 'x', 'manual', 'keep_name', 'tag', '{}', 1, 1, 1);
      INSERT INTO executor_bindings (executor_id, service, tracker_id, source_id, channel) VALUES ('x', 'main', 't', 's', 'stable');
    `);
    await client.execute({ sql: "UPDATE tracker_sources SET memo = ? WHERE id = 'large'", args: [large] });
    const rowsOf = async (table: string) =>
      (await client.execute(`SELECT * FROM "${table}" ORDER BY rowid`)).rows.map(
        (row): Record<string, unknown> => ({ ...row }),
      );
    const tables = (await client.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")).rows
      .map(({ name }) => String(name))
      .filter((name) => name !== "migrations" && name !== "tracker_sources");
    const others = async () => await Promise.all(tables.map(async (name) => [name, await rowsOf(name)]));
    const before = await others();
    const sources = (await rowsOf("tracker_sources")).map(({ memo: _moved, ...rest }) => rest);
    const folder = firstMigrations(count + 1);
    expect(await migrate({ client, folder, now: 2, backup: null })).toBe(1);
    // A connection that has read the table before names its columns as they were.
    client.reconnect();
    expect(await rowsOf("tracker_sources")).toEqual(sources);
    expect(await others()).toEqual(before);
    expect(await rowsOf("source_memos")).toEqual([
      { source_id: "s", memo: "all" },
      { source_id: "blank", memo: "" },
      { source_id: "large", memo: large },
    ]);
    expect(await schemaDifference(client, folder, count + 1)).toBeNull();
    expect((await client.execute("PRAGMA foreign_key_check")).rows).toEqual([]);
    await client.execute("DELETE FROM tracker_sources WHERE id = 'large'");
    expect((await rowsOf("source_memos")).map(({ source_id }) => source_id)).toEqual(["s", "blank"]);
    client.close();
  });

  test("leaves nothing of a migration that fails in the middle", async () => {
    const folder = emptyDir();
    cpSync(migrations, folder, { recursive: true });
    const { db, close } = await temporaryDatabase();
    const journal = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8"));
    journal.entries.push({ idx: journal.entries.length, tag: "9999_broken" });
    writeFileSync(join(folder, "meta/_journal.json"), JSON.stringify(journal));
    writeFileSync(
      join(folder, "9999_broken.sql"),
      "CREATE TABLE half (id INTEGER);--> statement-breakpoint\nNONSENSE;",
    );
    await expect(migrate({ client: db.client, folder, now: 1, backup: null })).rejects.toThrow();
    const tables = await db.client.execute("SELECT name FROM sqlite_master WHERE name = 'half'");
    expect(tables.rows).toHaveLength(0);
    await close();
  });
});

describe("inspectDatabaseFile()", () => {
  const beside = { keys: "key_file", was_used: true } as const;

  test.each([
    ["no keys", { keys: null, was_used: false }],
    ["no keys where the data directory was used", { keys: null, was_used: true }],
    ["keys of the environment", { keys: "given", was_used: false }],
  ] as const)("accepts a fresh installation: no database and %s", (_what, former) => {
    expect(() => inspectDatabaseFile(join(emptyDir(), "tidemark.db"), former)).not.toThrow();
  });

  test.each([
    ["missing", null, true, "is missing although its keys are in the environment"],
    ["empty", Buffer.alloc(0), true, "is empty (0 bytes) although its keys are in the environment"],
    ["empty, of no known use", Buffer.alloc(0), false, "is empty (0 bytes) although its keys are in the environment"],
  ])("refuses a database that is %s, with the keys of the environment", (_what, content, wasUsed, message) => {
    const path = join(emptyDir(), "tidemark.db");
    if (content !== null) writeFileSync(path, content);
    expect(() => inspectDatabaseFile(path, { keys: "given", was_used: wasUsed })).toThrow(message);
  });

  test.each([
    ["missing", null, "is missing"],
    ["empty", Buffer.alloc(0), "is empty (0 bytes)"],
    ["garbage", Buffer.from("not a database".repeat(20)), "is not a database"],
    ["a header cut short", Buffer.from("SQLite format 3\0"), "is not a database"],
  ])("refuses a database that is %s beside a key file, names it and leaves it alone", (_what, content, message) => {
    const path = join(emptyDir(), "tidemark.db");
    if (content !== null) writeFileSync(path, content);
    expect(() => inspectDatabaseFile(path, beside)).toThrow(message);
    expect(() => inspectDatabaseFile(path, beside)).toThrow(path);
    if (content !== null) expect(readFileSync(path)).toEqual(content);
  });

  test("refuses a database that was cut off", async () => {
    const { db, dir } = await temporaryDatabase();
    await db.client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    await db.close();
    const copy = join(emptyDir(), "tidemark.db");
    cpSync(join(dir, "tidemark.db"), copy);
    truncateSync(copy, 8192);
    expect(() => inspectDatabaseFile(copy, beside)).toThrow("is truncated");
  });
});

test("checkDatabase() finds damage in the middle and names the file", async () => {
  const { db, dir } = await temporaryDatabase();
  await db.client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  await db.close();
  const path = join(emptyDir(), "tidemark.db");
  const bytes = readFileSync(join(dir, "tidemark.db"));
  bytes.fill(0xff, 4096, 40_960);
  writeFileSync(path, bytes);
  const damaged = createClient({ url: `file:${path}` });
  await expect(checkDatabase(damaged, path)).rejects.toThrow(path);
  damaged.close();
});

test("checkDatabase() refuses commits that do not wait for the disk", async () => {
  const dir = emptyDir();
  const client = createClient({ url: `file:${dir}/test.db` });
  await client.executeMultiple("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  await expect(checkDatabase(client, "test.db")).rejects.toThrow("does not wait for its disk");
  client.close();
});
