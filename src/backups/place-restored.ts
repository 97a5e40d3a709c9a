import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { syncFolder, writeNewFile } from "../durable-files.ts";
import { AppError } from "../errors.ts";
import { keyFilePath } from "../secrets/keys.ts";
import { backupName, backupsFolder } from "./folder.ts";

// A restore replaces several files. Everything is judged and complete on the disk beside its place before this note is written; from
// then on the restore goes forward only, and whoever comes next, the command or a start, does what is left of it.

const Note = v.strictObject({
  format: v.literal(1),
  at: v.number(),
  database_file: v.string(),
  with_keys: v.boolean(),
});
export type RestoreNote = v.InferOutput<typeof Note>;

const notePath = (dataDir: string) => join(dataDir, "tidemark.restore.json");
/** Where a restored file waits beside its place. */
export const stagedDatabase = (databaseFile: string) => `${databaseFile}.restore`;
export const stagedKeys = (dataDir: string) => join(dataDir, "tidemark.keys.restore");

/** What a restore that was never begun has left; nothing of it was in use. */
export function clearStaged(dataDir: string, databaseFile: string): void {
  const staged = stagedDatabase(databaseFile);
  for (const path of [staged, `${staged}-wal`, `${staged}-shm`, `${staged}-journal`, stagedKeys(dataDir)]) {
    rmSync(path, { force: true });
  }
  rmSync(`${notePath(dataDir)}.tmp`, { force: true });
}

/** From here on the restore counts. */
export function writeRestoreNote(dataDir: string, note: RestoreNote): void {
  const path = notePath(dataDir);
  writeNewFile(`${path}.tmp`, JSON.stringify(note));
  renameSync(`${path}.tmp`, path);
  syncFolder(dataDir);
}

function readNote(dataDir: string): RestoreNote | null {
  const path = notePath(dataDir);
  if (!existsSync(path)) return null;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Note), readFileSync(path, "utf8"));
  if (parsed.success) return parsed.output;
  throw new AppError("damaged_restore", 500, `The note of a restore "${path}" is damaged; run the restore once more`);
}

function asideFolder(dataDir: string, databaseFile: string, at: number): string {
  const name = backupName("replaced", at);
  const isBeside = dirname(databaseFile) === dataDir;
  return isBeside ? join(backupsFolder(dataDir), name) : join(dirname(databaseFile), `tidemark-${name}`);
}

function placeDatabase(note: RestoreNote, aside: string): void {
  const { database_file } = note;
  const staged = stagedDatabase(database_file);
  // Without it the new one is in its place already, and what lies there is not to be put aside.
  if (!existsSync(staged)) return;
  for (const suffix of ["", "-wal", "-shm"]) {
    const former = `${database_file}${suffix}`;
    if (existsSync(former)) renameSync(former, join(aside, `tidemark.db${suffix}`));
  }
  syncFolder(aside);
  renameSync(staged, database_file);
  syncFolder(dirname(database_file));
}

function placeKeys(dataDir: string, note: RestoreNote): void {
  const place = keyFilePath(dataDir);
  const aside = join(backupsFolder(dataDir), backupName("replaced", note.at));
  const kept = join(aside, basename(place));
  if (!note.with_keys) {
    // They belong to what was replaced as well.
    if (existsSync(place)) copyFileSync(place, kept);
    return;
  }
  if (!existsSync(stagedKeys(dataDir))) return;
  if (existsSync(place)) renameSync(place, kept);
  syncFolder(aside);
  renameSync(stagedKeys(dataDir), place);
}

/**
 * Does what is left of a restore: puts the former files aside and the restored ones in their place. Harmless to repeat after a crash at
 * any point. Returns where the former ones are, or null when there was nothing to do.
 */
export function finishRestore(dataDir: string): string | null {
  const note = readNote(dataDir);
  if (note === null) return null;
  const aside = asideFolder(dataDir, note.database_file, note.at);
  for (const folder of [aside, join(backupsFolder(dataDir), backupName("replaced", note.at))]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  placeDatabase(note, aside);
  placeKeys(dataDir, note);
  syncFolder(dataDir);
  rmSync(notePath(dataDir));
  syncFolder(dataDir);
  return aside;
}
