import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import * as v from "valibot";
import { toIso } from "../clock.ts";
import {
  fileFacts,
  isSameContent,
  isThere,
  removeLeft,
  renameDurably,
  syncFolder,
  writeNewFile,
} from "../durable-files.ts";
import { AppError, saidBy } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { keyFilePath } from "../secrets/keys.ts";
import { clearUnfinishedBackups } from "./folder.ts";

// A restore replaces several files. Before this note is written, everything is checked and complete on disk: the new files beside their
// places, and a copy of the previous ones. After it there are only renames within a folder, and the command or the next start completes
// them.

const RestoredFile = v.object({ staged: v.string(), place: v.string(), size: v.number(), sha256: v.string() });
export type RestoredFile = v.InferOutput<typeof RestoredFile>;

const Note = v.object({
  format: v.literal(2),
  at: v.number(),
  /** The backup, as the administrator named it. */
  source: v.string(),
  /** The backup of what is replaced; null when there was nothing. */
  replaced: v.nullable(v.string()),
  files: v.array(RestoredFile),
  /** Files that belong to the replaced ones only and must not meet the new ones: the previous database's log. */
  obsolete: v.array(v.string()),
});
export type RestoreNote = v.InferOutput<typeof Note>;

const notePath = (dataDir: string) => join(dataDir, "tidemark.restore.json");

/** The real path of a file that may not exist yet, following a link. */
function realPlace(path: string): string {
  if (isThere(path)) return realpathSync(path);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return resolve(path);
  throw new AppError("dangling_link", 500, say("backups.broken_link", { path }));
}

export interface RestoredPlaces {
  database: string;
  keys: string;
}

export function restoredPlaces(dataDir: string, databaseFile: string): RestoredPlaces {
  return { database: realPlace(databaseFile), keys: realPlace(keyFilePath(dataDir)) };
}

/** Where a restored file waits, beside its place; unique for each restore. */
export function stagedPath(place: string, at: number): string {
  return `${place}.restore-${at}`;
}

/** Files that SQLite keeps beside a database. */
export const logFiles = (database: string) => ["-wal", "-shm", "-journal"].map((suffix) => `${database}${suffix}`);

/** Paths in the note are relative to the data directory: a container may mount it elsewhere than its host. */
function withPaths(note: RestoreNote, change: (path: string) => string): RestoreNote {
  return {
    ...note,
    replaced: note.replaced === null ? null : change(note.replaced),
    files: note.files.map((file) => ({ ...file, staged: change(file.staged), place: change(file.place) })),
    obsolete: note.obsolete.map(change),
  };
}

/** From here on the restore counts. */
export function writeRestoreNote(dataDir: string, note: RestoreNote): void {
  const path = notePath(dataDir);
  const base = realpathSync(dataDir);
  rmSync(`${path}.tmp`, { force: true });
  writeNewFile(`${path}.tmp`, JSON.stringify(withPaths(note, (file) => relative(base, file))));
  renameDurably(`${path}.tmp`, path);
}

const unfinished = (problem: Message, undo: Message, cause?: unknown) =>
  new AppError("restore_unfinished", 500, say("backups.unfinished", { problem, undo }), { cause });

/** What to do about a restore that `cause` interrupted. */
export function unfinishedRestore({ source, at, replaced }: RestoreNote, cause: unknown): AppError {
  const problem = say("backups.restore_incomplete", { source, at: toIso(at), cause: saidBy(cause) });
  const undo = replaced === null ? say("backups.undo_another") : say("backups.undo_folder", { path: replaced });
  return unfinished(problem, undo, cause);
}

/** Null when no restore has begun. An unreadable note throws: continuing with half a restore would be wrong. */
function readNote(dataDir: string): RestoreNote | null {
  const path = notePath(dataDir);
  if (!isThere(path)) return null;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Note), readFileSync(path, "utf8"));
  const base = realpathSync(dataDir);
  if (parsed.success) return withPaths(parsed.output, (file) => resolve(base, file));
  throw unfinished(say("backups.restore_note_unreadable", { path }), say("backups.undo_newest"));
}

const lost = (said: Message) => new AppError("restored_file_lost", 500, said);

/** Whether a restored file is still to be placed. Throws when it is neither beside its place nor in it. */
function isWaiting({ staged, place, ...facts }: RestoredFile): boolean {
  const isStaged = isThere(staged);
  const path = isStaged ? staged : place;
  if (!isStaged && !isThere(place)) throw lost(say("backups.staged_missing", { path: staged }));
  if (isSameContent(fileFacts(path), facts)) return isStaged;
  throw lost(
    isStaged
      ? say("backups.staged_changed", { path: staged })
      : say("backups.staged_missing_other_placed", { path: staged, place }),
  );
}

/** Places the remaining files. Safe to repeat after a crash at any point. */
export function placeFiles(dataDir: string, note: RestoreNote): void {
  const waiting = note.files.filter(isWaiting);
  for (const { staged, place } of waiting) renameDurably(staged, place);
  // After the renames: until the first of them nothing has changed, and nobody opens the database meanwhile.
  for (const path of note.obsolete) rmSync(path, { force: true });
  for (const folder of new Set(note.obsolete.map(dirname))) syncFolder(folder);
  rmSync(notePath(dataDir));
  syncFolder(dataDir);
}

/** Completes a restore that has begun. Returns its note, or null when there was none; throws `restore_unfinished` with what to do. */
export function completeRestore(dataDir: string): RestoreNote | null {
  const note = readNote(dataDir);
  if (note === null) return null;
  try {
    placeFiles(dataDir, note);
    return note;
  } catch (error) {
    throw unfinishedRestore(note, error);
  }
}

/** Cancels a restore that has placed no file. False when it has begun and must be completed. */
export function withdrawRestore(dataDir: string, { files }: RestoreNote): boolean {
  // A file that cannot be read counts as placed.
  if (!files.every(({ staged }) => existsSync(staged))) return false;
  return removeLeft([notePath(dataDir)]).length === 0;
}

/** For commands that use the database without a start: they must not change one that is about to be replaced. */
export function assertNoRestore(dataDir: string): void {
  if (!isThere(notePath(dataDir))) return;
  throw new AppError("restore_unfinished", 409, say("backups.restore_pending"));
}

/** Whether a file name in the folder of `place` comes from a restore of this or an earlier version. */
function isStagedName(name: string, place: string): boolean {
  const start = `${basename(place)}.restore`;
  return name.startsWith(start) && /^(?:-\d+)?(?:-wal|-shm|-journal)?$/.test(name.slice(start.length));
}

/** Removes leftovers of restores and backups that never counted; call it when no restore has begun. */
export function clearLeftovers(dataDir: string, databaseFile: string | null): void {
  const places = [databaseFile, keyFilePath(dataDir)].filter((path) => path !== null).map(realPlace);
  for (const name of ["tidemark.restore.json.tmp", "tidemark.keys.restore"])
    rmSync(join(dataDir, name), { force: true });
  for (const place of places) {
    const folder = dirname(place);
    const staged = isThere(folder) ? readdirSync(folder).filter((name) => isStagedName(name, place)) : [];
    for (const name of staged) rmSync(join(folder, name), { force: true });
  }
  clearUnfinishedBackups(dataDir);
}
