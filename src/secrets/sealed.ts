import * as v from "valibot";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { decryptFernet, decryptFernetWithAny, encryptFernet, type FernetKey, parseFernetKey } from "./fernet.ts";
import { type EncryptionKeys, keyId } from "./keys.ts";

declare const sealedBrand: unique symbol;

/** Encrypted text: the only type that a `sealed_…` column takes, so that plain text cannot be stored by mistake. */
export type Sealed = string & { readonly [sealedBrand]: "sealed" };

/** Checks the form only. Restores the type of database values; throws for plain text. */
export function asSealed(text: string): Sealed {
  if (!isSealed(text)) throw new AppError("undecryptable", 500, say("keys.secret_not_encrypted"));
  return text;
}

function isSealed(text: string): text is Sealed {
  return /^gAAAAA[\w-]{90,}={0,2}$/.test(text);
}

export interface Sealer {
  /** The id of the key that `seal` uses, stored beside the data to detect a start with another key. */
  readonly keyId: string;
  seal(text: string): Sealed;
  /** Decrypts with the primary key, then with previous ones. Throws `undecryptable`. */
  open(sealed: Sealed): string;
  sealJson(value: unknown): Sealed;
  /**
   * Decrypts, parses and validates. `secretsOf` names the values that must never appear in a log; by default every text in the value.
   * Throws `undecryptable`, also for a value that does not match the schema.
   */
  openJson<const S extends v.GenericSchema>(
    schema: S,
    sealed: Sealed,
    secretsOf?: (value: v.InferOutput<S>) => readonly string[],
  ): v.InferOutput<S>;
}

/** The only sealer of the process; a rotation changes its keys while others use it. */
export interface RotatingSealer extends Sealer {
  /** From now on seals with `keys.primary` and opens with all of them. Throws for an invalid key and changes nothing. */
  useKeys(keys: EncryptionKeys): void;
  /** A text about to be stored: reseals what a previous key sealed under the primary key; everything else stays unchanged. */
  toPrimary(text: string): string;
  /** Whether the primary key opens it. */
  isPrimary(text: string): boolean;
}

interface SealerOptions {
  keys: EncryptionKeys;
  clock: Clock;
  /** Receives every decrypted secret: the redactor's `register`. */
  onOpen: (secret: string) => void;
}

function requireKey(text: string): FernetKey {
  const key = parseFernetKey(text);
  if (key === null) throw new AppError("invalid_key", 500, say("keys.not_a_fernet_key"));
  return key;
}

/** The secret's bytes; null for another key or a damaged value. */
function opens(key: FernetKey, sealed: string): Buffer | null {
  try {
    return decryptFernet(key, sealed);
  } catch (error) {
    if (error instanceof AppError && error.code === "undecryptable") return null;
    throw error;
  }
}

// No stored secret is deeper than a few levels.
const MAXIMUM_DEPTH = 16;

function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (depth >= MAXIMUM_DEPTH || typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((item) => textsIn(item, depth + 1));
}

/** Encrypts and decrypts what is stored. There is no mode that stores plain text. */
export function createSealer({ keys, clock, onOpen }: SealerOptions): RotatingSealer {
  const parse = (wanted: EncryptionKeys) => ({
    id: keyId(wanted.primary),
    primary: requireKey(wanted.primary),
    previous: (wanted.previous ?? []).map(requireKey),
  });
  let ring = parse(keys);
  const sealBytes = (bytes: Uint8Array) => asSealed(encryptFernet(ring.primary, bytes, clock.now()));
  const seal = (text: string) => sealBytes(Buffer.from(text, "utf8"));
  const decrypt = (sealed: Sealed) => decryptFernetWithAny([ring.primary, ...ring.previous], sealed).toString("utf8");
  return {
    get keyId() {
      return ring.id;
    },
    useKeys: (wanted) => {
      ring = parse(wanted);
    },
    toPrimary: (text) => {
      if (ring.previous.length === 0 || !isSealed(text) || opens(ring.primary, text) !== null) return text;
      const bytes = ring.previous.map((key) => opens(key, text)).find((found) => found !== null);
      return bytes === undefined || bytes === null ? text : sealBytes(bytes);
    },
    isPrimary: (text) => opens(ring.primary, text) !== null,
    seal,
    open: (sealed) => {
      const text = decrypt(sealed);
      onOpen(text);
      return text;
    },
    sealJson: (value) => seal(JSON.stringify(value)),
    openJson: (schema, sealed, secretsOf) => {
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), decrypt(sealed));
      if (!parsed.success) {
        // Valibot's issues quote the value, so they stay out of the error and its cause.
        throw new AppError("undecryptable", 500, say("keys.secret_malformed"));
      }
      for (const secret of secretsOf?.(parsed.output) ?? textsIn(parsed.output)) onOpen(secret);
      return parsed.output;
    },
  };
}
