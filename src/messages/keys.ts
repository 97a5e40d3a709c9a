import type { Area, Message } from "./types.ts";

type File = { path: string };
type Name = "session" | "encryption";

const inForce = {
  session: "The new session key is in use, and everyone has to sign in again",
  encryption: "The new encryption key is in use",
} as const;

/** The session key, the encryption key and what is encrypted with it. */
export const keys = {
  session_key_in_environment:
    "The environment variable SESSION_KEY sets this key; change it there and restart Tidemark",
  encryption_key_in_environment:
    "The environment variable ENCRYPTION_KEY sets this key and would bring it back at the next start; to rotate it, keep it in a file that KEYS_FILE names",
  session_key_in_file:
    "This key is in the file that KEYS_FILE names, which Tidemark never writes; change it there and restart Tidemark",
  encryption_key_in_file:
    'This key is in the file that KEYS_FILE names, which Tidemark never writes; enter a new key there as "primary" and this one under "previous", then restart Tidemark',
  remote_database:
    "The database is on a libSQL server: Tidemark cannot back it up, and another instance could keep writing with the old key",
  rotation_unfinished: "A rotation was interrupted, and the next start completes it; restart Tidemark first",
  rotation_in_progress: "A key rotation is already in progress; wait until it ends",
  rotation_incomplete: ({ name, cause }: { name: Name; cause: Message }, tell) =>
    `${inForce[name]}, but the last step of its rotation failed (${tell(cause)}); correct this, then restart Tidemark, which completes the rotation`,
  disk_full: "the disk is full",
  corrupt_secret: ({ table, row, column }: { table: string; row: string; column: string }) =>
    `No known key decrypts the secret in the table "${table}", row "${row}", column "${column}"; enter it again or delete it, then rotate the key`,
  corrupt_secrets: ({ count, table, row, column }: { count: number; table: string; row: string; column: string }) =>
    `No known key decrypts ${count} secrets, the first of them in the table "${table}", row "${row}", column "${column}"; enter each of them again or delete it, then rotate the key`,

  secret_not_encrypted: "A stored secret cannot be read; it is not encrypted",
  secret_undecryptable: "A stored secret cannot be decrypted; it is damaged or belongs to another key",
  secret_malformed: "A stored secret cannot be read; its content has an unexpected form",
  not_a_fernet_key: "The encryption key cannot be used: it is not a Fernet key",
  session_key_short: ({ bits, limit }: { bits: number; limit: number }) =>
    `The session key has ${bits} bits; it must have at least ${limit}`,
  session_key_unusable: ({ place, bytes }: { place: string; bytes: number }) =>
    `The session key in ${place} cannot be used; it must be at least ${bytes} random bytes in base64, as "openssl rand -base64 32" prints`,
  encryption_key_unusable: ({ place }: { place: string }) =>
    `The encryption key in ${place} cannot be used; it must be a Fernet key: 32 random bytes in base64url with padding, 44 characters`,

  file_unreadable: ({ path }: File) => `The key file "${path}" cannot be read; give it to the user that runs Tidemark`,
  file_broken_link: ({ path }: File) => `The key file "${path}" is a broken link; mount or restore its target`,
  file_irregular: ({ path }: File) => `The key file "${path}" is not a regular file`,
  file_open_to_others: ({ path, mode }: File & { mode: string }) =>
    `The key file "${path}" has mode ${mode} and others may read it; run chmod 600 on it, and rotate the keys if it was exposed`,
  file_too_large: ({ path, kib }: File & { kib: number }) => `The key file "${path}" is larger than ${kib} KiB`,
  file_damaged: ({ path }: File) => `The key file "${path}" is damaged or of another version; restore it from a backup`,
  file_not_replaceable: ({ path }: File) =>
    `The key file "${path}" cannot be replaced; let Tidemark write to its folder, and mount neither the folder read-only nor the file alone`,
  file_missing: ({ path }: File) => `There is no key file "${path}"; restore it, then restart Tidemark`,
  file_changed: ({ path }: File) =>
    `The key file "${path}" was changed since the start; restart Tidemark, then rotate the key`,
  named_file_missing: ({ path }: File) =>
    `KEYS_FILE names "${path}", and there is no such file; correct the path or restore the file`,
  file_missing_for_data: ({ path }: File) =>
    `There is no key file "${path}", but the database has encrypted data; restore the file from the backup of the data directory, or set ENCRYPTION_KEY and SESSION_KEY to the previous keys`,
  key_missing_in_file: ({ path, name, variable }: File & { name: Name; variable: string }) =>
    `The key file "${path}" has no ${name} key; set ${variable} as before, or restore the complete file`,
  folder_open_to_others: ({ path, mode }: File & { mode: string }) =>
    `The data directory "${path}" has mode ${mode} and others may enter it; give Tidemark a folder of its own, or run chmod 700 on this one`,
  database_of_another_key: ({ stored, used }: { stored: string; used: string }) =>
    `The database is encrypted with the key ${stored}, but the key in use is ${used}; restore the key file that belongs to this database, or correct ENCRYPTION_KEY`,
  database_of_unknown_key: ({ used }: { used: string }) =>
    `The database does not say which key encrypts its secrets, and the key in use, ${used}, decrypts none of them; restore the key file that belongs to this database, or correct ENCRYPTION_KEY`,
} satisfies Area;
