import type { Area, Message } from "./types.ts";

type File = { path: string };
/** Evidence of an earlier installation: our own key file, or keys from the environment. */
type Kept = { keys: "key_file" | "given" };

/** A service that does not start has no container to run it in. */
export const restoreCommand =
  '"bun run restore FOLDER" (in a container: "docker compose run --rm tidemark bun run restore FOLDER")';

const restore = `Restore a backup: stop the service, run ${restoreCommand} with a folder from the backups folder or one of your own, then start again`;
const signs = { key_file: "its key file exists", given: "its keys are in the environment" } as const;
const fresh = {
  key_file: "To start from scratch, move the key file away first",
  given: 'To start from scratch, move "tidemark.lock" and the remains of the database away first',
} as const;

/** The database at a start. */
export const database = {
  missing: ({ path, keys }: File & Kept) =>
    `The database "${path}" is missing although ${signs[keys]}. ${restore}. ${fresh[keys]}`,
  not_a_file: ({ path }: File) => `The database "${path}" is not a file; correct DATABASE_URL`,
  blank_file: ({ path, keys }: File & Kept) =>
    `The database "${path}" is empty (0 bytes) although ${signs[keys]}. ${restore}. ${fresh[keys]}`,
  not_a_database: ({ path }: File) => `The file "${path}" is not a database. ${restore}`,
  cut_off: ({ path, found, wanted }: File & { found: number; wanted: number }) =>
    `The database "${path}" is truncated: ${found} of ${wanted} bytes. ${restore}`,
  emptied: ({ path, keys }: File & Kept) => `The database "${path}" is empty although ${signs[keys]}. ${restore}`,
  server_unusable: ({ cause }: { cause: Message }, tell) =>
    `The database server cannot be used (${tell(cause)}); correct DATABASE_URL and DATABASE_AUTH_TOKEN, or check the server`,
  locked: ({ path }: File) =>
    `Another program has locked the database "${path}"; close it (a database browser or a backup tool, for example), then start again`,
  disk_full: ({ path }: File) => `The disk of the database "${path}" is full; free space and start again`,
  url_unusable: ({ cause }: { cause: Message }, tell) => `DATABASE_URL cannot be used (${tell(cause)}); correct it`,
  unreadable: ({ path, cause }: File & { cause: Message }, tell) =>
    `The database "${path}" cannot be read (${tell(cause)}). ${restore}`,
  damaged: ({ path, problem }: File & { problem: string }) =>
    `The database "${path}" is damaged (${problem}). ${restore}`,
  without_foreign_keys: "The database does not enforce foreign keys",
  without_wal: ({ path }: File) => `The database "${path}" is not in WAL mode`,
  without_synchronous: ({ path }: File) => `The database "${path}" does not wait for its disk at commits`,
  of_newer_version: ({ applied, known }: { applied: number; known: number }) =>
    `The database was written by a newer version of Tidemark (it has ${applied} migrations, this version knows ${known}). Start that version, or restore the backup made before the upgrade`,

  object_missing: ({ object }: { object: string }) => `${object} is missing`,
  object_changed: ({ object }: { object: string }) => `${object} is defined differently`,
  object_foreign: ({ object }: { object: string }) => `${object} does not belong to Tidemark`,

  lock_unusable: ({ path, cause }: File & { cause: Message }, tell) =>
    `The lock file "${path}" cannot be used (${tell(cause)}); check what is in its place and move it away`,
  data_directory_in_use: ({ path }: File) =>
    `Another Tidemark process is using the data directory "${path}"; stop it first, or set another DATA_DIR for this one`,
} satisfies Area;
