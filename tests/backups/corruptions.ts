import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client/sqlite3";
import { type RestoreOptions, restore } from "../../src/backups/restore.ts";
import { writeBackup } from "../../src/backups/write-backup.ts";
import { contentOf } from "../support/installation-content.ts";
import { type Random, randomFrom } from "../support/random.ts";
import { installed, migrationsFolder } from "./installed.ts";

/** What is done to a copy of a backup; `other` is a backup of another installation. */
type Corruption = (backup: string, other: string, random: Random) => unknown;

const one = <T>(values: readonly T[], random: Random): T => {
  const value = values[random(values.length)];
  if (value === undefined) throw new Error("There is nothing to choose from");
  return value;
};
const anyFile = (backup: string, random: Random) => join(backup, one(readdirSync(backup).toSorted(), random));

/** Changes bytes in a row or anywhere; each becomes another one. */
function flip(path: string, count: number, isTogether: boolean, random: Random): void {
  const content = readFileSync(path);
  const start = random(content.length);
  for (let index = 0; index < count; index += 1) {
    const at = isTogether ? (start + index) % content.length : random(content.length);
    content[at] = (content[at] ?? 0) ^ (1 + random(255));
  }
  writeFileSync(path, content, { mode: 0o600 });
}

const sql =
  (...statements: readonly string[]): Corruption =>
  async (backup) => {
    const client = createClient({ url: `file:${join(backup, "tidemark.db")}` });
    for (const statement of ["PRAGMA foreign_keys = OFF", ...statements]) await client.execute(statement);
    client.close();
  };

const secretColumns = {
  credentials: "sealed_secret",
  notifiers: "sealed_config",
  oidc_providers: "sealed_client_secret",
  oidc_attempts: "sealed_secrets",
  snapshots: "sealed_content",
} as const;

/** What is noticed also in a backup that has no checksums. */
const structural: readonly Corruption[] = [
  ...["releases", "run_steps", "rate_limits", "audit_entries"].map((table) => sql(`DROP TABLE ${table}`)),
  sql("ALTER TABLE trackers DROP COLUMN description"),
  sql("ALTER TABLE audit_entries ADD COLUMN more TEXT"),
  ...["administrators_singleton", "sessions_kind", "sessions_expires_at"].map((index) => sql(`DROP INDEX ${index}`)),
  sql("CREATE TRIGGER quiet AFTER INSERT ON audit_entries BEGIN DELETE FROM audit_entries; END"),
  sql("CREATE VIEW everybody AS SELECT * FROM administrators"),
  sql("CREATE TABLE more (a)"),
  sql("CREATE INDEX more ON trackers (name)"),
  ...Object.entries(secretColumns).flatMap(([table, column]) => [
    sql(`UPDATE ${table} SET ${column} = substr(${column}, 1, 40) || 'AAAA' || substr(${column}, 45)`),
    sql(`UPDATE ${table} SET ${column} = 'in clear'`),
  ]),
  (backup, other) => copyFileSync(join(other, "keys.json"), join(backup, "keys.json")),
  (backup) => rmSync(join(backup, "tidemark.db")),
  (backup, _other, random) => truncateSync(join(backup, "tidemark.db"), random(500_000)),
];

/** What the checksums have to notice, or what does no harm. */
const anywhere: readonly Corruption[] = [
  ...[1, 2, 16, 16, 16, 300].flatMap((count): Corruption[] => [
    (backup, _other, random) => flip(join(backup, "tidemark.db"), count, false, random),
    (backup, _other, random) => flip(anyFile(backup, random), count, true, random),
  ]),
  (backup, _other, random) => {
    const path = anyFile(backup, random);
    truncateSync(path, random(statSync(path).size));
  },
  (backup, _other, random) => {
    const path = anyFile(backup, random);
    const content = readFileSync(path);
    const start = random(content.length);
    writeFileSync(path, content.fill(0, start, Math.min(content.length, start + 1 + random(20_000))), { mode: 0o600 });
  },
  (backup, _other, random) => appendFileSync(anyFile(backup, random), Buffer.alloc(1 + random(5_000), random(256))),
  (backup, other, random) => {
    const path = anyFile(backup, random);
    copyFileSync(path.replace(backup, other), path);
  },
  (backup, _other, random) => rmSync(anyFile(backup, random)),
  (backup, other, random) => {
    const name = one(["tidemark.db-wal", "tidemark.db-journal", "tidemark.db-shm", "notes.txt"], random);
    copyFileSync(join(other, "tidemark.db"), join(backup, name));
  },
  sql("UPDATE credentials SET name = 'another'"),
  sql("DELETE FROM notifiers"),
];

/** A corruption and whether the backup has its checksums. */
function chosen(random: Random): { corrupt: Corruption; has_manifest: boolean } {
  const isStructural = random(3) === 0;
  return isStructural
    ? { corrupt: one(structural, random), has_manifest: random(2) === 0 }
    : { corrupt: one(anywhere, random), has_manifest: true };
}

export interface CorruptionOutcome {
  seed: number;
  outcome: "refused" | "restored exactly" | "accepted";
  said: string;
}

export interface CorruptionHouse {
  /** Corrupts a copy of the backup, and restores that over a copy of an installation. */
  run(seed: number): Promise<CorruptionOutcome>;
  close(): void;
}

export async function corruptionHouse(): Promise<CorruptionHouse> {
  const work = mkdtempSync(join(tmpdir(), "tidemark-corruptions-"));
  const [source, another, target] = [await installed("source"), await installed("another"), await installed("target")];
  const backupOf = async (dir: string, name: string) => {
    const folder = join(work, name);
    mkdirSync(folder);
    const keys = { file: join(dir, "keys.json"), opens_data: true };
    await writeBackup({ database: join(dir, "tidemark.db"), keys, folder, created_at: 1 });
    return folder;
  };
  const [backup, other] = [await backupOf(source, "backup"), await backupOf(another, "other")];
  const [before, after] = [await contentOf(target), await contentOf(backup)];

  const run = async (seed: number): Promise<CorruptionOutcome> => {
    const random = randomFrom(seed);
    const dir = mkdtempSync(join(work, "case-"));
    const [data_dir, copy] = [join(dir, "data"), join(dir, "backup")];
    cpSync(target, data_dir, { recursive: true });
    cpSync(backup, copy, { recursive: true });
    const { corrupt, has_manifest } = chosen(random);
    if (!has_manifest) rmSync(join(copy, "manifest.json"));
    await corrupt(copy, other, random);
    const options: RestoreOptions = {
      ...{ source: copy, data_dir, database_file: join(data_dir, "tidemark.db"), migrations_folder: migrationsFolder },
      ...{ keys_file: null, session_key: null, encryption_key: null, accepts_unreadable: false, now: 1 },
    };
    const said = await restore(options).then(
      () => "restored",
      (error: unknown) => String(error),
    );
    const isWhole = (await contentOf(data_dir)) === (said === "restored" ? after : before);
    rmSync(dir, { recursive: true });
    const outcome = !isWhole ? "accepted" : said === "restored" ? "restored exactly" : "refused";
    return { seed, outcome, said };
  };
  const close = () => {
    for (const path of [work, source, another, target]) rmSync(path, { recursive: true, force: true });
  };
  return { run, close };
}
