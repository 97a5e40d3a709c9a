import type * as v from "valibot";
import type { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import { readJson, readText } from "../../net/read-json.ts";
import { codeOfStatus, failure, isWebPage, oneLine } from "../failure.ts";

/** Of upstream's own text in an error. */
const maxWordsCharacters = 300;
/** Of a list of errors; forges put the first ones first. */
const maxErrors = 5;
/** Levels of lists and objects that are searched for text; forges use three. */
const maxDepth = 6;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of an error field: a string, a list of strings, or a list of objects with a `message`. */
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

/** The forge's own text: from the fields that forges use, or the start of the body; empty for a web page. */
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

/** An unsuccessful response. */
export interface Refusal {
  status: number;
  /** The forge's own text; may be empty. */
  words: string;
  reason: Message;
}

export async function readRefusal(response: Response): Promise<Refusal> {
  const { status } = response;
  const body = await readText(response);
  const words = oneLine(forgeWords(body), maxWordsCharacters).replace(/\.$/, "");
  const isPage = words === "" && /^\s*</.test(body);
  const reason = isPage
    ? say("sources.answered_with_page", { status })
    : say("sources.answered", { status, said: words });
  return { status, words, reason };
}

/** The error for an unsuccessful response. */
export async function readForgeError(response: Response, action: Message): Promise<PluginError> {
  const { status, reason } = await readRefusal(response);
  return failure(codeOfStatus(status), action, reason);
}

/** The body by its schema. Throws a PluginError for a refusal, a web page, broken JSON, or another form. */
export async function readForgeJson<const S extends v.GenericSchema>(
  response: Response,
  schema: S,
  action: Message,
): Promise<v.InferOutput<S>> {
  if (!response.ok) throw await readForgeError(response, action);
  if (isWebPage(response)) throw failure("malformed", action, say("sources.page_of_no_forge"));
  return await readJson(response, schema);
}
