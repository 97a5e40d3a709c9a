import { formatNumber, plural } from "../../format.ts";

export const keys = {
  title: "Security keys",
  lead: "Two keys that exist nowhere but on this host. They are shown by their fingerprints alone.",
  session: "Session key",
  session_text: "Signs the sessions of browsers and programs, and the links in messages that ask for approval.",
  encryption: "Encryption key",
  encryption_text:
    "Encrypts every stored secret: credentials, webhook addresses, snapshots, the secret of the sign-in provider.",
  fingerprint: "Fingerprint",
  id: "Key id",
  since: "In use since",
  since_unknown: "before this was recorded",
  place: "Kept in",
  place_file: "the key file of the data directory",
  place_environment: (variable: string) => `the environment (${variable})`,
  not_here: "It cannot be rotated here",
  rotate_session: "Rotate session key",
  rotate_encryption: "Rotate encryption key",
  session_question: "Rotate the session key?",
  session_means: [
    "Everybody is signed out at once, you too. Sign in again with the password.",
    "Every API token ends. Programs are refused until you give them new ones.",
    "Every approval link that was sent and not used ends.",
    "Stored secrets, trackers and executors are not touched.",
  ],
  encryption_question: "Rotate the encryption key?",
  encryption_means: [
    "A backup of the database with the present key is made first. You are told where it is.",
    "Then every stored secret is encrypted anew, all of them or none. If one cannot be decrypted, nothing changes and it is named.",
    "This cannot be undone. Older backups still need the key that they were made with.",
    "Sign-ins and API tokens stay. Changes that others make meanwhile wait until it is done.",
  ],
  session_done: "The session key was rotated",
  session_ended: (sessions: number, tokens: number) =>
    `${plural("en", sessions, { one: "sign-in", other: "sign-ins" })} and ${plural("en", tokens, { one: "API token", other: "API tokens" })} have ended, this sign-in too.`,
  new_fingerprint: "New fingerprint",
  sign_in: "Sign in again",
  encryption_done: "The encryption key was rotated",
  encryption_done_text:
    "The backup holds the former key, which opens what was stored until now. If that key became known to somebody, change the secrets themselves and delete the backup once all is well.",
  reencrypted: "Secrets encrypted anew",
  former: "Former key id",
  backup: "Backup",
  done: "Back to the security keys",
};

export const backups = {
  title: "Backups",
  lead: (count: number) =>
    `Copies of the database in the data directory, made while everything goes on. At most ${formatNumber("en", count)}; copy them elsewhere on the host, because they are lost with this disk.`,
  create: "Make a backup",
  with_keys: "With the keys",
  with_keys_help: "Opens every secret in it. Without them the key file must come from elsewhere.",
  created: (name: string) => `Made ${name}`,
  empty_title: "No backups yet",
  empty: "One is made before each rotation of the encryption key. Make one before changes that you might regret.",
  name: "Backup",
  kind: "Why",
  kinds: {
    manual: "Asked for",
    "before-key-rotation": "Before a key rotation",
    "before-upgrade": "Before an upgrade",
    replaced: "Replaced by a restore",
  },
  keys: "Keys",
  keys_in: "With the keys",
  keys_out: "Without the keys",
  size: "Size",
  at: "Made",
  folder: (path: string) => `In ${path}`,
  delete: "Delete",
  delete_title: (name: string) => `Delete the backup ${name}?`,
  delete_text: "The copy is gone for good. What is in use is not touched.",
  delete_verb: "Delete backup",
  deleted: (name: string) => `Deleted ${name}`,
  kept: "On this host",
  restore_title: "How to restore one",
  restore_text:
    "Stop the service and run this on its host. It refuses a backup that is damaged, newer, or encrypted with another key.",
  no_download:
    "Backups are not downloaded here: they hold the password's hash and, with the keys, every secret. Copy the folder on the host.",
};
