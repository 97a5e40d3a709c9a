import { restoreCommand } from "./database.ts";
import type { Area, Message } from "./types.ts";

type Source = { source: string };
type Cause = { cause: Message };

/** Backups of the installation, and restores from them. */
export const backups = {
  remote_database: "The database is on a libSQL server; use that server's own backup",
  in_progress: "A backup is already in progress; wait until it ends",
  too_many: ({ limit }: { limit: number }) =>
    `There are ${limit} backups, the maximum; move some elsewhere or delete them`,
  folder_not_created: ({ path, cause }: { path: string } & Cause, tell) =>
    `The folder "${path}" cannot be created (${tell(cause)}). If it is a link, mount or correct its target`,
  keys_kept_changing: "The keys changed each time the database was copied; try again",
  copy_failed: ({ cause }: Cause, tell) => `The database could not be copied: ${tell(cause)}`,
  copy_damaged: ({ problem }: { problem: string }) => `The copy of the database is damaged: ${problem}`,

  not_found: ({ source }: Source) => `There is no backup "${source}"`,
  folder_without_database: ({ source, name }: Source & { name: string }) =>
    `The folder "${source}" has no "${name}": it is not a Tidemark backup`,
  not_a_tidemark_database: ({ source }: Source) => `The file "${source}" is not a Tidemark database`,
  database_in_use: ({ source }: Source) => `"${source}" is the database in use; name a backup instead`,
  unreadable: ({ source, cause }: Source & Cause, tell) => `The backup "${source}" cannot be read (${tell(cause)})`,
  of_newer_version: ({ source, applied, known }: Source & { applied: number; known: number }) =>
    `The backup "${source}" was made by a newer version of Tidemark (it has ${applied} migrations, this version knows ${known}); restore it with that version`,
  without_keys: ({ path }: { path: string }) =>
    `This backup has no keys, and there is no key file "${path}"; put its "keys.json" beside its database, or set ENCRYPTION_KEY and SESSION_KEY`,
  secret_unreadable: ({ source, table, row, column }: Source & { table: string; row: number; column: string }) =>
    `The secret in the backup "${source}", table "${table}", row ${row}, column "${column}", cannot be decrypted with its keys. Choose another backup, or add --accept-unreadable-secrets and enter such secrets again after the restore`,

  damaged: ({ problem }: { problem: Message }, tell) => `${tell(problem)}. Choose another backup`,
  manifest_unreadable: ({ path }: { path: string }) => `The manifest "${path}" cannot be read`,
  manifest_incomplete: ({ path, name }: { path: string; name: string }) =>
    `The manifest "${path}" has no checksum for "${name}"`,
  checksum_wrong: ({ path, manifest }: { path: string; manifest: string }) =>
    `The file "${path}" is damaged: its checksum does not match "${manifest}"`,
  size_wrong: ({ path, manifest, found, wanted }: { path: string; manifest: string; found: number; wanted: number }) =>
    `The file "${path}" is damaged: it has ${found} bytes instead of the ${wanted} in "${manifest}"`,
  incomplete: ({ source, name }: Source & { name: string }) =>
    `The backup "${source}" is incomplete: "${name}" is missing`,
  surplus_file: ({ source, path }: Source & { path: string }) =>
    `The file "${path}" is not part of the backup "${source}"`,
  database_damaged: ({ source, problem }: Source & { problem: string }) =>
    `The backup "${source}" is damaged: ${problem}`,
  schema_wrong: ({ source, difference }: Source & { difference: Message }, tell) =>
    `The backup "${source}" does not have the schema that its version of Tidemark created: ${tell(difference)}`,
  reference_missing: ({ source, table, parent }: Source & { table: string; parent: string }) =>
    `The backup "${source}" is damaged: a row of the table "${table}" refers to a missing row of "${parent}"`,
  without_administrator: ({ source }: Source) => `The backup "${source}" has no administrator`,

  nothing_restored: ({ cause }: Cause, tell) => `Nothing was restored. ${tell(cause)}`,
  not_restored_former_unfinished: ({ source, cause, former }: Source & Cause & { former: Message }, tell) =>
    `"${source}" was not restored. ${tell(cause)}. ${tell(former)}`,
  not_restored_former_complete: (
    { source, cause, former, at }: Source & Cause & { former: string; at: string },
    tell,
  ) => `"${source}" was not restored. ${tell(cause)}. The restore of "${former}", begun at ${at}, is now complete`,
  no_room_to_restore: "There is no room on the disk for the restored files; free space, then run this again",
  correct_and_repeat: ({ cause }: Cause, tell) => `${tell(cause)}. Correct this, then run this again`,
  unfinished: ({ problem, undo }: { problem: Message; undo: Message }, tell) =>
    `${tell(problem)}. Correct this and start again, or run ${restoreCommand}: with the same backup it completes the restore, with ${tell(undo)} it undoes it`,
  restore_incomplete: ({ source, at, cause }: Source & { at: string } & Cause, tell) =>
    `The restore of "${source}" began at ${at} and is not complete: ${tell(cause)}`,
  restore_note_unreadable: ({ path }: { path: string }) =>
    `A restore has begun and is not complete, and its note "${path}" cannot be read`,
  staged_missing: ({ path }: { path: string }) => `"${path}" is missing`,
  staged_changed: ({ path }: { path: string }) => `"${path}" was changed`,
  staged_missing_other_placed: ({ path, place }: { path: string; place: string }) =>
    `"${path}" is missing, and "${place}" is another file`,
  undo_another: "another one",
  undo_folder: ({ path }: { path: string }) => `"${path}"`,
  undo_newest: 'the newest "replaced" backup of the backups folder',
  restore_pending: "A restore has begun and is not complete; start Tidemark or run the restore again first",
  broken_link: ({ path }: { path: string }) => `"${path}" is a broken link; mount or correct its target`,
} satisfies Area;
