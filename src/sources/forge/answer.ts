import type * as v from "valibot";
import { PluginError, type PluginErrorCode } from "../../errors.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import { readJson, readText } from "../../net/read-json.ts";

/** Longest message of an error, and of upstream's own words in it, in characters. */
const maxMessageCharacters = 500;
const maxWordsCharacters = 300;
/** Of a list of errors; forges name the first ones first. */
const maxErrors = 5;
/** Levels of lists and objects that words are looked for in; forges use three. */
const maxDepth = 6;

/** Text from elsewhere on one line and bounded: control characters would let it forge lines or colours. */
export function oneLine(text: string, characters: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length > characters ? `${line.slice(0, characters - 1)}…` : line;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The words in one of a forge's error fields: a text, a list of them, or of objects that have a `message`. */
function wordsIn(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (depth === maxDepth) return "";
  const deeper = (inner: unknown) => wordsIn(inner, depth + 1);
  if (Array.isArray(value)) return value.slice(0, maxErrors).map(deeper).filter(Boolean).join("; ");
  if (!isRecord(value)) return "";
  const inner = value.message ?? value.code;
  if (inner !== undefined) return deeper(inner);
  // Refused fields with the reasons of each: `{"ref": ["is missing"]}`.
  return Object.entries(value)
    .slice(0, maxErrors)
    .map(([name, reasons]) => [name, deeper(reasons)].filter(Boolean).join(" "))
    .join("; ");
}

/** What the forge itself said, from the fields that forges use, else the start of its text; nothing for a web page. */
function forgeWords(body: string): string {
  if (/^\s*</.test(body)) return "";
  let json: unknown;
  try {
    json = parseBoundedJson(body);
  } catch {
    return body.slice(0, 4 * maxWordsCharacters);
  }
  if (!isRecord(json)) return "";
  const texts = [json.message, json.error, json.error_description, json.errors]
    .map((value) => wordsIn(value))
    .filter(Boolean);
  return [...new Set(texts)].join(": ");
}

function codeOf({ status }: Response): PluginErrorCode {
  if (status === 429) return "rate_limited";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404 || status === 410) return "not_found";
  return status >= 500 ? "unreachable" : "rejected";
}

/** `Could not ${what}, ${reason}`, bounded: both may quote upstream. */
export function forgeFailure(code: PluginErrorCode, what: string, reason: string, cause?: unknown): PluginError {
  return new PluginError(code, oneLine(`Could not ${what}, ${reason}`, maxMessageCharacters), { cause });
}

/** What an answer that is no success means, with upstream's words; `what` was attempted: `list the releases of "host/owner/app"`. */
export async function readForgeError(response: Response, what: string): Promise<PluginError> {
  const body = await readText(response);
  const words = oneLine(forgeWords(body), maxWordsCharacters).replace(/\.$/, "");
  const page = /^\s*</.test(body) ? " with a web page" : "";
  const said = words === "" ? page : `: ${words}`;
  return forgeFailure(codeOf(response), what, `the answer was ${response.status}${said}`);
}

/** The body of a success by its schema; a refusal, a web page, broken JSON and another form are PluginErrors that say so. */
export async function readForgeJson<const S extends v.GenericSchema>(
  response: Response,
  schema: S,
  what: string,
): Promise<v.InferOutput<S>> {
  if (!response.ok) throw await readForgeError(response, what);
  if (isWebPage(response))
    throw forgeFailure("malformed", what, "the answer is a web page: is this a forge's address?");
  return await readJson(response, schema);
}

export function isWebPage(response: Response): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(response.headers.get("content-type") ?? "");
}
