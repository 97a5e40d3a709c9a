import type { Area, Message } from "./types.ts";

type Folder = { folder: Message };

/** Files and folders of the installation, and disk space. */
export const files = {
  no_room_for_database: "The disk of the database is full; free space and try again",
  no_room_for_keys: "There is no room on the disk for the key file; free space and try again",
  no_room_for_backup: "There is no room on the disk for a backup; free space and try again",
  no_room_for_database_copy: "There is no room on the disk for the copy of the database; free space and try again",
  no_room_for_data: ({ path }: { path: string }) =>
    `There is no room on the disk for the data directory "${path}"; free space and start again`,
  no_room_to_verify: ({ path }: { path: string }) =>
    `There is no room on the disk for a copy of the backup in "${path}"; free space there, or set TMPDIR to another folder`,

  data_directory: ({ path }: { path: string }) => `The data directory "${path}"`,
  database_folder: ({ path }: { path: string }) => `The folder of the database "${path}"`,
  folder_on_full_disk: ({ folder }: Folder, tell) => `${tell(folder)} is on a full disk; free space and start again`,
  folder_read_only: ({ folder, variable }: Folder & { variable: string }, tell) =>
    `${tell(folder)} is read-only; mount it writable, or set ${variable} to another folder`,
  folder_forbidden: ({ folder, variable }: Folder & { variable: string }, tell) =>
    `${tell(folder)} does not let Tidemark write; make the user that runs Tidemark its owner, or correct ${variable}`,
  folder_not_one: ({ folder, variable }: Folder & { variable: string }, tell) =>
    `${tell(folder)} is not a folder: a file or a broken link is in its place; correct ${variable}`,
  folder_missing: ({ folder, variable }: Folder & { variable: string }, tell) =>
    `${tell(folder)} does not exist; create it, or correct ${variable}`,
  folder_unusable: ({ folder, variable, cause }: Folder & { variable: string; cause: Message }, tell) =>
    `${tell(folder)} cannot be used (${tell(cause)}); correct ${variable}`,
} satisfies Area;
