import { RE2JS } from "re2js";
import { AppError, errorMessage, TerminalError } from "../errors.ts";
import { RecentMap } from "../recent-map.ts";
import { visibleText } from "../visible-text.ts";

const PLACEHOLDER = "[redacted]";
// Shorter values are words: hiding every "admin" would hide what the log is for.
const MINIMUM_SECRET_CHARACTERS = 6;
// More than one installation has. The oldest is dropped first and registered again when it is next opened.
const MAXIMUM_SECRETS = 512;
// Of one target's configuration; a Helm release has the most. The last ones count.
const MAXIMUM_TARGET_SECRETS = 4_096;
// A multi-line secret (a key, a kubeconfig) can leak in parts, so this many of its long words are known separately.
const MAXIMUM_PARTS = 64;

const EXCERPT_CHARACTERS = 500;
// How much text an excerpt reads: a secret that begins in it must be complete to be recognised.
const EXCERPT_READ_CHARACTERS = 16_384;

// How far before a cut a partial secret is searched: as far as lines of logs are read.
const MAXIMUM_REST_CHARACTERS = 4_096;

export interface Redactor {
  /** Removes known token formats, and every registered value in all its encodings. */
  redact(text: string): string;
  /** Upstream text for storing and showing: without secrets, on one line, fully visible, at most 500 characters. */
  excerpt(text: string): string;
  /** Registers a value; the last ones up to the limit are known. Values under 6 characters are ignored. */
  register(secret: string): void;
}

interface Shape {
  /** Quick test of the lower-case text: most lines contain none of these marks and skip the pattern. */
  readonly marks: readonly string[];
  readonly pattern: RE2JS;
  readonly replacement: string;
  /** Spares an ordinary word, as in "Basic authentication failed"; tests group 2. */
  readonly isSecret?: (value: string) => boolean;
}

// Linear-time patterns: this text comes from upstreams, and JavaScript's own engine backtracks.
function shape(marks: readonly string[], pattern: string, replacement = PLACEHOLDER): Shape {
  return { marks, pattern: RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL), replacement };
}

const isBearerToken = (value: string) => value.length > 20 || /[^a-z]/i.test(value);
const isBasicPair = (value: string) => Buffer.from(value, "base64").includes(0x3a);

const shapes: readonly Shape[] = [
  shape(["private key"], "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)"),
  shape(["gh"], "\\bgh[pousr]_[A-Za-z0-9]{16,}"),
  shape(["github_pat_"], "\\bgithub_pat_\\w{16,}"),
  shape(["gl"], "\\bgl[a-z]{2,5}-[\\w.-]{16,}"),
  shape(["ptr_"], "\\bptr_[\\w+/-]{16,}={0,2}"),
  shape(["dckr_"], "\\bdckr_[a-z]{3,6}_[\\w-]{16,}"),
  shape(["xox"], "\\bxox[a-z]-[\\w-]{10,}"),
  shape(["hooks.slack.com/"], "(hooks\\.slack\\.com/[a-z]+/)[\\w/-]+", `$1${PLACEHOLDER}`),
  shape(["/webhooks/"], "(/api/webhooks/\\d+/)[\\w-]+", `$1${PLACEHOLDER}`),
  shape(["eyj"], "\\beyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*"),
  shape(["gaaaaa"], "\\bgAAAAA[\\w-]{60,}={0,2}"),
  { ...shape(["bearer"], "\\b(bearer\\s+)([\\w+/.~-]{8,}=*)", `$1${PLACEHOLDER}`), isSecret: isBearerToken },
  { ...shape(["basic"], "\\b(basic\\s+)([\\w+/-]{8,}=*)", `$1${PLACEHOLDER}`), isSecret: isBasicPair },
  shape(
    ["token", "key", "auth", "cookie"],
    "\\b((?:private-token|job-token|x-api-key|x-registry-auth|x-registry-config|set-cookie|cookie)[\"'\\\\]*\\s*[:=]\\s*[\"'\\\\]*)[^\\s\"'\\\\,;]{6,}",
    `$1${PLACEHOLDER}`,
  ),
  shape(
    ["=", "%3d"],
    "([?&](?:access_token|refresh_token|id_token|private_token|job_token|token|api_key|apikey|key|client_secret|password|code|sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)=)[^&\\s\"'\\\\#]+",
    `$1${PLACEHOLDER}`,
  ),
  shape(["://"], "(://)[^\\s/?#\"'<>\\\\@]+(?:@[^\\s/?#\"'<>\\\\@]+)*@", `$1${PLACEHOLDER}@`),
];

function applyShape(text: string, { pattern, replacement, isSecret }: Shape): string {
  const matcher = pattern.matcher(text);
  if (isSecret === undefined) return matcher.replaceAll(replacement);
  let out = "";
  let from = 0;
  while (matcher.find()) {
    out += text.slice(from, matcher.start());
    const value = matcher.group(2) ?? "";
    out += isSecret(value) ? `${matcher.group(1) ?? ""}${PLACEHOLDER}` : (matcher.group() ?? "");
    from = matcher.end();
  }
  return out + text.slice(from);
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The part common to every base64 text that contains these bytes, for each of their three alignments. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  return [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first and last characters also carry bits of the neighbours.
    const first = Math.ceil((offset * 8) / 6);
    const inner = padded.toString("base64url").slice(first, Math.floor((padded.length * 8) / 6));
    return inner.length < 8 ? [] : [inner, inner.replaceAll("-", "+").replaceAll("_", "/")];
  });
}

function formsOf(secret: string): readonly string[] {
  const trimmed = secret.trim();
  const values = new Set([secret, trimmed]);
  if (trimmed.includes("\n")) {
    const parts = trimmed.split(/[^\w+/=.-]+/).filter((part) => part.length >= 24);
    for (const part of parts.slice(0, MAXIMUM_PARTS)) values.add(part);
  }
  const forms = new Set<string>();
  for (const value of values) {
    if (value.length < MINIMUM_SECRET_CHARACTERS) continue;
    const escaped = jsonEscaped(value);
    const encoded = encodeURIComponent(value.toWellFormed());
    for (const form of [value, escaped, jsonEscaped(escaped), encoded, encoded.replaceAll("%20", "+")]) forms.add(form);
    for (const form of base64Forms(value)) forms.add(form);
  }
  // Longest first: a shorter form inside a longer one would leave its rest visible.
  return [...forms].sort((a, b) => b.length - a.length);
}

/** Forms by their first characters, so that a prefix is found without comparing all. */
function byBeginning(forms: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const form of forms) {
    const key = form.slice(0, MINIMUM_SECRET_CHARACTERS);
    found.set(key, [...(found.get(key) ?? []), form]);
  }
  return found;
}

/** `text` without a partial secret at its end; null when there is none. */
function withoutRest(text: string, beginnings: ReadonlyMap<string, readonly string[]>): string | null {
  const first = Math.max(0, text.length - MAXIMUM_REST_CHARACTERS);
  for (let at = first; at <= text.length - MINIMUM_SECRET_CHARACTERS; at += 1) {
    const forms = beginnings.get(text.slice(at, at + MINIMUM_SECRET_CHARACTERS));
    if (forms?.some((form) => form.startsWith(text.slice(at)))) return text.slice(0, at) + PLACEHOLDER;
  }
  return null;
}

/** Cuts are marked with "…" everywhere, and the text before one may be a partial secret. */
function redactCut(text: string, beginnings: ReadonlyMap<string, readonly string[]>): string {
  const parts = text.split("…");
  const last = parts.pop() ?? "";
  return [...parts.map((part) => withoutRest(part, beginnings) ?? part), last].join("…");
}

/** Removes secrets where text leaves: in the log's sink, and from upstream text before it is stored or shown. */
export function createRedactor(limit = MAXIMUM_SECRETS): Redactor {
  const known = new RecentMap<string, readonly string[]>(limit);
  let forms: readonly string[] = [];
  let beginnings = byBeginning(forms);
  let isStale = false;
  const redact = (text: string): string => {
    if (isStale) {
      // Not at each registration: many secrets come at once.
      forms = [...new Set([...known.values()].flat())].sort((a, b) => b.length - a.length);
      beginnings = byBeginning(forms);
      isStale = false;
    }
    let out = text;
    for (const form of forms) if (out.includes(form)) out = out.replaceAll(form, PLACEHOLDER);
    if (out.includes("…")) out = redactCut(out, beginnings);
    const lower = out.toLowerCase();
    for (const each of shapes) {
      if (each.marks.some((mark) => lower.includes(mark))) out = applyShape(out, each);
    }
    return out;
  };
  return {
    redact,
    excerpt: (text) => {
      const safe = visibleText(redact(text.slice(0, EXCERPT_READ_CHARACTERS)).replace(/\s+/g, " "));
      return safe.length > EXCERPT_CHARACTERS ? `${safe.slice(0, EXCERPT_CHARACTERS - 1)}…` : safe;
    },
    register: (secret) => {
      if (secret.trim().length < MINIMUM_SECRET_CHARACTERS || known.has(secret)) return;
      known.set(secret, formsOf(secret));
      isStale = true;
    },
  };
}

/** For what a target writes, given the secrets of its configuration. */
export function targetRedactor(): Pick<Redactor, "redact"> & { learn(secrets: readonly string[]): void } {
  const { redact, register } = createRedactor(MAXIMUM_TARGET_SECRETS);
  return {
    redact,
    learn: (secrets) => {
      // Each line of one may be written by itself. They are the first to be dropped.
      const lines = secrets.filter((secret) => secret.includes("\n")).flatMap((secret) => secret.split("\n"));
      for (const part of [...lines.map((line) => line.trim()), ...secrets]) register(part);
    },
  };
}

/** An error as a process prints it before it exits: on one visible line, because the text may come from a database server. */
export function lastWords(error: unknown, secrets: readonly string[]): string {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.register(secret);
  const words = error instanceof AppError || error instanceof TerminalError ? error.message : errorMessage(error);
  return visibleText(redactor.redact(words));
}
