import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { syncFolder, writeNewFile } from "../durable-files.ts";
import { AppError, errorMessage } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { parseStrictObject } from "../strict-json.ts";
import { decodeBase64Url, generateFernetKey, parseFernetKey } from "./fernet.ts";

/** Fernet keys as text: `primary` encrypts, `previous` ones decrypt until a rotation is complete. */
export interface EncryptionKeys {
  readonly primary: string;
  readonly previous?: readonly string[] | undefined;
}

export interface Keys {
  /** Signs session tokens; at least 256 bits. */
  readonly session: Uint8Array;
  readonly encryption: EncryptionKeys;
  /** True for a key from the environment or `KEYS_FILE`: we never write it, so it cannot be rotated here. */
  readonly managed_by_environment: { readonly session: boolean; readonly encryption: boolean };
}

interface KeyOptions {
  data_dir: string;
  /** `KEYS_FILE`, `SESSION_KEY` and `ENCRYPTION_KEY` of the environment; they override the file in the data directory. */
  keys_file: string | null;
  session_key: string | null;
  encryption_key: string | null;
  /** Whether the database has encrypted rows: then a missing key is lost and must not be replaced by a new one. */
  has_encrypted_rows: boolean;
}

const FILE_NAME = "keys.json";
const MAXIMUM_FILE_BYTES = 64 * 1024;
const SESSION_KEY_BYTES = 32;
// 32 random bytes have about 30 distinct values; fewer than this is a phrase or a placeholder.
const MINIMUM_DISTINCT_BYTES = 16;

const KeyFile = v.strictObject({
  format: v.literal(1),
  session: v.optional(v.string()),
  encryption: v.optional(
    v.strictObject({ primary: v.string(), previous: v.optional(v.pipe(v.array(v.string()), v.maxLength(8))) }),
  ),
});
type KeyFile = v.InferOutput<typeof KeyFile>;

/** Stops the start; the message says what is wrong with the keys and how to fix it. */
export class KeyError extends AppError {
  constructor(said: Message, cause?: unknown) {
    super("invalid_keys", 500, said, { cause });
    this.name = "KeyError";
  }
}

/** A short id that reveals nothing about the key: the first 64 bits of its SHA-256, in hex. */
export function keyId(key: string | Uint8Array): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 16);
}

/** `SHA256:1a2b 3c4d …`: the same id, for people to compare. */
export function fingerprint(key: string | Uint8Array): string {
  return `SHA256:${keyId(key).replace(/(.{4})(?=.)/g, "$1 ")}`;
}

function parseSessionKey(text: string, place: string): Uint8Array {
  const unpadded = text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
  const bytes = Buffer.from(unpadded, "base64url");
  const isBase64 = bytes.toString("base64url") === unpadded;
  if (!isBase64 || bytes.length < SESSION_KEY_BYTES || new Set(bytes).size < MINIMUM_DISTINCT_BYTES) {
    throw new KeyError(say("keys.session_key_unusable", { place, bytes: SESSION_KEY_BYTES }));
  }
  return bytes;
}

function parseEncryptionKey(text: string, place: string): string {
  const bytes = parseFernetKey(text) === null ? null : decodeBase64Url(text);
  if (bytes === null || new Set(bytes).size < MINIMUM_DISTINCT_BYTES) {
    throw new KeyError(say("keys.encryption_key_unusable", { place }));
  }
  return text;
}

function openKeyFile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (cause) {
    throw new KeyError(say("keys.file_unreadable", { path }), cause);
  }
}

/** Reads and validates a key file; null when there is none. Throws `KeyError`. */
function readKeyFile(path: string): KeyFile | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    throw new KeyError(say("keys.file_broken_link", { path }));
  }
  // Checked before opening: opening a pipe would wait for a writer.
  if (!found.isFile()) throw new KeyError(say("keys.file_irregular", { path }));
  const descriptor = openKeyFile(path);
  try {
    // Checked on the open file, so that nobody can swap it between the check and the read.
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new KeyError(say("keys.file_irregular", { path }));
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, "0");
      throw new KeyError(say("keys.file_open_to_others", { path, mode }));
    }
    if (stat.size > MAXIMUM_FILE_BYTES)
      throw new KeyError(say("keys.file_too_large", { path, kib: MAXIMUM_FILE_BYTES / 1024 }));
    const parsed = v.safeParse(KeyFile, parseStrictObject(readFileSync(descriptor)));
    if (!parsed.success) {
      throw new KeyError(say("keys.file_damaged", { path }));
    }
    return parsed.output;
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the folder 0700. Refuses a shared folder (`/tmp`) instead of changing it. */
export function securePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === "win32") return;
  const stat = statSync(folder);
  if ((stat.mode & 0o077) === 0) return;
  const isShared = (stat.mode & 0o1002) !== 0 || dirname(folder) === folder;
  const foreign = readdirSync(folder).find((name) => !/^(tidemark|keys\.json|backups$|lost\+found$)/.test(name));
  if (isShared || foreign !== undefined || stat.uid !== process.getuid?.()) {
    const mode = (stat.mode & 0o7777).toString(8).padStart(4, "0");
    throw new KeyError(say("keys.folder_open_to_others", { path: folder, mode }));
  }
  chmodSync(folder, 0o700);
}

/** Called when a new key file is complete on disk, and when it has replaced the previous one. */
export type OnKeyFileStep = (step: "written" | "renamed") => void;

/** The file's real path: a link stays, so that no old key remains at its target. */
function realPlace(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** The error for a folder or mount in which a file cannot be replaced. */
function notReplaceable(path: string, cause: unknown): unknown {
  if (!/EACCES|EPERM|EROFS|EBUSY/.test(errorMessage(cause))) return cause;
  return new KeyError(say("keys.file_not_replaceable", { path }), cause);
}

/**
 * Writes a key file so that after a crash at any point it has the old or the new content, complete and 0600. Follows a link to its target.
 * Throws `KeyError` and changes nothing when that cannot be replaced.
 */
export function writeKeyFile(path: string, content: KeyFile, onStep: OnKeyFileStep = () => undefined): void {
  const place = realPlace(path);
  const temporary = `${place}.tmp`;
  try {
    // A file left by a crash was never in use: a key file takes effect by the rename.
    rmSync(temporary, { force: true });
    writeNewFile(temporary, `${JSON.stringify(content, null, 2)}\n`);
    onStep("written");
    renameSync(temporary, place);
  } catch (error) {
    clearTemporary(place);
    throw notReplaceable(place, error);
  }
  onStep("renamed");
  syncFolder(dirname(place));
}

/** A key that never took effect; where nothing can be removed, none was written either. */
function clearTemporary(place: string): void {
  try {
    rmSync(`${place}.tmp`, { force: true });
  } catch (error) {
    if (notReplaceable(place, error) === error) throw error;
  }
}

/** The ids of the encryption keys in a key file; null when it has none. Throws `KeyError` for an unusable file. */
export function storedKeyIds(path: string): readonly string[] | null {
  const encryption = readKeyFile(path)?.encryption;
  if (encryption === undefined) return null;
  return [encryption.primary, ...(encryption.previous ?? [])].map((key) => keyId(parseEncryptionKey(key, `"${path}"`)));
}

/** Our key file, for the keys that the environment does not provide. */
export function keyFilePath(dataDir: string): string {
  return join(dataDir, FILE_NAME);
}

/**
 * Replaces part of our key file and keeps the rest. Throws `KeyError` when the file is missing or the part differs from `expected`, because
 * somebody changed it since the start.
 */
export function replaceStoredKeys(
  dataDir: string,
  expected: { session?: Uint8Array; encryption?: string },
  change: Partial<Pick<KeyFile, "session" | "encryption">>,
  onStep?: OnKeyFileStep,
): void {
  const path = keyFilePath(dataDir);
  const file = readKeyFile(path);
  if (file === null) throw new KeyError(say("keys.file_missing", { path }));
  const isSession = (key: Uint8Array) =>
    file.session !== undefined && Buffer.from(key).equals(parseSessionKey(file.session, `"${path}"`));
  if (
    (expected.session !== undefined && !isSession(expected.session)) ||
    (expected.encryption !== undefined && file.encryption?.primary !== expected.encryption)
  ) {
    throw new KeyError(say("keys.file_changed", { path }));
  }
  writeKeyFile(path, { ...file, ...change }, onStep);
}

/** Whether our key file exists: with one, a missing or empty database is lost and not a fresh installation. */
export function hasKeyFile(dataDir: string): boolean {
  return existsSync(join(dataDir, FILE_NAME));
}

function findFile(options: KeyOptions): { path: string; file: KeyFile | null } {
  const path = options.keys_file ?? join(options.data_dir, FILE_NAME);
  const file = readKeyFile(path);
  if (file === null && options.keys_file !== null) {
    throw new KeyError(say("keys.named_file_missing", { path }));
  }
  return { path, file };
}

/**
 * Finds the keys, or creates them on the first start, which has neither a key file nor an encrypted row. Throws `KeyError` that says how to
 * recover; never replaces a lost key.
 */
export function loadKeys(options: KeyOptions): Keys {
  const needsFile = options.session_key === null || options.encryption_key === null;
  let { path, file } = needsFile ? findFile(options) : { path: "", file: null };
  if (needsFile && file === null) {
    if (options.has_encrypted_rows) {
      throw new KeyError(say("keys.file_missing_for_data", { path }));
    }
    securePrivateFolder(options.data_dir);
    file = {
      format: 1,
      ...(options.session_key === null ? { session: randomBytes(SESSION_KEY_BYTES).toString("base64url") } : {}),
      ...(options.encryption_key === null ? { encryption: { primary: generateFernetKey() } } : {}),
    };
    writeKeyFile(path, file);
  } else if (needsFile && options.keys_file === null) {
    securePrivateFolder(options.data_dir);
    // Left by a crash.
    clearTemporary(realPlace(path));
  }
  const place = `"${path}"`;
  const missing = (name: "session" | "encryption", variable: string) =>
    new KeyError(say("keys.key_missing_in_file", { path, name, variable }));

  const sessionText = options.session_key ?? file?.session;
  if (sessionText === undefined) throw missing("session", "SESSION_KEY");
  const encryption = options.encryption_key === null ? file?.encryption : { primary: options.encryption_key };
  if (encryption === undefined) throw missing("encryption", "ENCRYPTION_KEY");
  const encryptionPlace = options.encryption_key === null ? place : "ENCRYPTION_KEY";
  return {
    session: parseSessionKey(sessionText, options.session_key === null ? place : "SESSION_KEY"),
    encryption: {
      primary: parseEncryptionKey(encryption.primary, encryptionPlace),
      ...(encryption.previous === undefined
        ? {}
        : {
            previous: encryption.previous
              .map((key) => parseEncryptionKey(key, encryptionPlace))
              .filter((key) => key !== encryption.primary),
          }),
    },
    managed_by_environment: {
      session: options.session_key !== null || options.keys_file !== null,
      encryption: options.encryption_key !== null || options.keys_file !== null,
    },
  };
}

/**
 * Compares the key with the id that the database stored with its first encrypted row (null before that). A matching previous key means an
 * interrupted rotation. Throws `KeyError` when none matches.
 */
export function assertKeyFits(keys: EncryptionKeys, storedKeyId: string | null): void {
  if (storedKeyId === null) return;
  const known = [keys.primary, ...(keys.previous ?? [])].map((key) => keyId(key));
  if (known.includes(storedKeyId)) return;
  throw new KeyError(say("keys.database_of_another_key", { stored: storedKeyId, used: keyId(keys.primary) }));
}
