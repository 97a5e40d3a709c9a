import { type Algorithm, hash, parseOptions, verify } from "@node-rs/argon2";
import { tooManyRequests } from "../errors.ts";
import { randomToken } from "../ids.ts";
import { type Message, say } from "../messages/message.ts";
import { commonPasswords, commonWalks, commonWords } from "./common-passwords.ts";

const MINIMUM_CHARACTERS = 12;
const MAXIMUM_CHARACTERS = 256;
// Checked first, so that a huge text costs nothing.
const MAXIMUM_BYTES = 1024;

// OWASP's minimum for Argon2id, 19 MiB per hash: the concurrency bounds the memory, the queue bounds the wait.
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const MAXIMUM_AT_ONCE = 4;
const MAXIMUM_QUEUED = 32;
const RETRY_AFTER_SECONDS = 2;

// The package declares `const enum`s, which isolated modules cannot read.
const ARGON2ID: Algorithm = 2;

/**
 * What is wrong with a new password, or null. Characters are code points; the text is never trimmed, cut or changed, and no character
 * classes are required. `ownWords` are words an attacker knows: the administrator's name, the host's name.
 */
export function passwordProblem(password: string, ownWords: readonly string[] = []): Message | null {
  const bytes = Buffer.byteLength(password, "utf8");
  if (password.length > MAXIMUM_BYTES || bytes > MAXIMUM_BYTES) {
    return say("auth.password_too_many_bytes", { limit: MAXIMUM_BYTES });
  }
  // A lone surrogate has no UTF-8 form, and U+FFFD replaces invalid bytes: two different passwords would become one.
  if (!password.isWellFormed() || password.includes("\ufffd")) return say("auth.password_broken");
  // Some editors start a file with one. It is invisible, and nobody types it at the next sign-in.
  if (password.includes("\ufeff")) return say("auth.password_byte_order_mark");
  const characters = [...password].length;
  if (characters < MINIMUM_CHARACTERS) {
    return say("auth.password_too_short", { characters, limit: MINIMUM_CHARACTERS });
  }
  if (characters > MAXIMUM_CHARACTERS) {
    return say("auth.password_too_long", { characters, limit: MAXIMUM_CHARACTERS });
  }
  return isGuessable(password, ownWords) ? say("auth.password_guessable") : null;
}

const substitutes: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** Whether the text is one part, at most half as long, repeated. */
function isRepetition(text: string): boolean {
  // A repeating text occurs in itself doubled, before its own end.
  const period = (text + text).indexOf(text, 1);
  return period <= text.length / 2;
}

function lettersBesides(text: string, words: readonly string[]): number {
  let rest = text;
  for (const word of words) rest = rest.replaceAll(word, " ");
  return rest.replace(/[^\p{L}]/gu, "").length;
}

function isGuessable(password: string, ownWords: readonly string[]): boolean {
  const lower = password.toLowerCase();
  if (commonPasswords.has(lower) || isRepetition(lower)) return true;
  if (new Set(lower).size < 4) return true;
  const reversed = [...lower].reverse().join("");
  if (commonWalks.some((walk) => walk.includes(lower) || walk.includes(reversed))) return true;

  // A known word stays guessable with digits, signs and one or two letters around it, or written as "p4ssw0rd".
  const words = [...ownWords.map((word) => word.toLowerCase()).filter((word) => word.length >= 3), ...commonWords];
  words.sort((a, b) => b.length - a.length);
  const plain = [...lower].map((char) => substitutes[char] ?? char).join("");
  const hasWord = words.some((word) => lower.includes(word) || plain.includes(word));
  if (!hasWord) return false;
  return lettersBesides(lower, words) <= 2 || lettersBesides(plain, words) <= 2;
}

export interface Passwords {
  /** A PHC string. Throws 429 when too many are waiting. */
  hash(password: string): Promise<string>;
  /** Compares with a stored hash; `null` (unknown name) takes as long and is false. Throws 429 like `hash`. */
  verify(storedHash: string | null, password: string): Promise<boolean>;
  /** Whether the hash was made with weaker parameters than the current ones. */
  needsRehash(storedHash: string): boolean;
}

function createGate(atOnce: number, queued: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= queued) {
        throw tooManyRequests(say("auth.too_many_checks"), RETRY_AFTER_SECONDS);
      }
      // A finished one hands its place over, so that `running` never counts a place twice.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

interface PasswordOptions {
  memory_kib?: number;
  passes?: number;
}

/** Argon2id, at most 4 at once and 32 waiting. */
export async function createPasswords(options: PasswordOptions = {}): Promise<Passwords> {
  const memoryCost = options.memory_kib ?? MEMORY_KIB;
  const timeCost = options.passes ?? PASSES;
  const parameters = { algorithm: ARGON2ID, memoryCost, timeCost, parallelism: LANES };
  const gate = createGate(MAXIMUM_AT_ONCE, MAXIMUM_QUEUED);
  // Computed now, because the first unknown name would otherwise take twice as long.
  const nobody = await hash(randomToken(256), parameters);
  return {
    hash: (password) => gate(() => hash(password, parameters)),
    verify: async (storedHash, password) => {
      const isPlausible = password.length <= MAXIMUM_BYTES && Buffer.byteLength(password, "utf8") <= MAXIMUM_BYTES;
      if (!isPlausible || !password.isWellFormed()) return false;
      const isSame = await gate(() => verify(storedHash ?? nobody, password));
      return isSame && storedHash !== null;
    },
    needsRehash: (storedHash) => {
      const stored = parseOptions(storedHash);
      return stored.algorithm !== ARGON2ID || stored.memoryCost < memoryCost || stored.timeCost < timeCost;
    },
  };
}
