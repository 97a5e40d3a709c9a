import { formatNumber, plural } from "../../format.ts";

export const keys = {
  title: "Security keys",
  lead: "Both keys exist only on this host. This page shows only their fingerprints.",
  session: "Session key",
  session_text: "Signs the sessions of browsers and programs, and the approval links in notifications.",
  encryption: "Encryption key",
  encryption_text:
    "Encrypts all stored secrets: credentials, webhook addresses, snapshots and the client secret of the sign-in provider.",
  fingerprint: "Fingerprint",
  since: "In use since",
  since_unknown: "not recorded",
  place: "Stored in",
  place_file: "the key file of the data directory",
  place_environment: (variable: string) => `the environment (${variable})`,
  not_here: "This key cannot be rotated here",
  rotate_session: "Rotate session key",
  rotate_encryption: "Rotate encryption key",
  session_question: "Rotate the session key?",
  session_means: [
    "All sessions end immediately, including yours. Sign in again with the password.",
    "All API tokens are revoked. Programs are refused until you give them new ones.",
    "All unused approval links become invalid.",
    "Stored secrets, trackers and executors are not affected.",
  ],
  encryption_question: "Rotate the encryption key?",
  encryption_means: [
    "First, the database is backed up with the current key. You will see where the backup is.",
    "Then all stored secrets are re-encrypted together. If one cannot be decrypted, nothing changes and you will see which one.",
    "This cannot be undone. Older backups still need the key they were made with.",
    "Sessions and API tokens are not affected. Other changes wait until the rotation is complete.",
  ],
  unreadable_title: "These secrets cannot be decrypted",
  unreadable_text:
    "Nothing was changed. Enter each of them again, delete it, or wait where it says so, then rotate the key.",
  unreadable_more: (count: number) => `and ${formatNumber("en", count)} more`,
  unreadable: {
    credentials: "Credential",
    notifiers: "Notifier",
    oidc_providers: "Sign-in provider",
    snapshots: "Snapshot",
    run_logs: "Run log",
    idempotency_keys: "Stored API response, which a rotation removes once it is two days old",
    oidc_attempts: "Unfinished sign-in, which a rotation removes one day after it timed out",
  },
  session_done: "The session key was rotated",
  session_ended: (sessions: number, tokens: number) =>
    `Ended ${plural("en", sessions, { one: "session", other: "sessions" })}, including this one, and revoked ${plural("en", tokens, { one: "API token", other: "API tokens" })}.`,
  new_fingerprint: "New fingerprint",
  sign_in: "Sign in again",
  encryption_done: "The encryption key was rotated",
  encryption_done_text:
    "The backup contains the old key, which decrypts everything stored until now. If that key was exposed, change the secrets themselves, and delete the backup once everything works.",
  reencrypted: "Secrets re-encrypted",
  former: "Old key ID",
  backup: "Backup",
  done: "Back to security keys",
};

export const backups = {
  title: "Backups",
  lead: (count: number) =>
    `Tidemark copies its database while it is running and keeps up to ${formatNumber("en", count)} copies in the data directory. Copy them to another disk too: they are lost if this one fails.`,
  back_up: "Back up now",
  with_keys: "Include keys",
  with_keys_help: "The keys decrypt all secrets in the backup. Without them, keep the key file elsewhere.",
  taken: (name: string) => `Backed up as ${name}`,
  taken_at: "Taken",
  empty_title: "No backups yet",
  empty: "Tidemark makes a backup before each rotation of the encryption key. Make one yourself before risky changes.",
  name: "Backup",
  kind: "Reason",
  kinds: {
    manual: "Manual",
    "before-key-rotation": "Before key rotation",
    "before-upgrade": "Before upgrade",
    replaced: "Replaced by a restore",
  },
  keys: "Keys",
  with_keys_filter: "With keys",
  without_keys_filter: "Without keys",
  keys_in: "Included",
  keys_out: "Not included",
  folder: (path: string) => `In ${path}`,
  delete_text: "The backup is permanently deleted. The data in use is not affected.",
  delete_verb: "Delete backup",
  kept: "On this host",
  restore_title: "How to restore a backup",
  restore_text:
    "Stop the service and run this command on its host. It refuses backups that are damaged, from a newer version, or encrypted with another key.",
  no_download:
    "Backups cannot be downloaded: they contain the password hash and, with keys, all secrets. Copy the folder on the host.",
};
