import { parseBoundedJson } from "../net/bounded-json.ts";
import { isObject } from "../strict-json.ts";
import { oneLine } from "./failure.ts";

/** Of upstream's own text in an error. */
const maxWordsCharacters = 300;
/** Of a list of errors; the first ones come first. */
const maxErrors = 5;
/** Levels of lists and objects that are searched for text; three are in use. */
const maxDepth = 6;

/** The text of an error field: a string, a list of strings, or a list of objects with a `message`. */
function wordsIn(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (depth === maxDepth) return "";
  const deeper = (inner: unknown) => wordsIn(inner, depth + 1);
  if (Array.isArray(value)) return value.slice(0, maxErrors).map(deeper).filter(Boolean).join("; ");
  if (!isObject(value)) return "";
  const inner = value.message ?? value.code;
  if (inner !== undefined) return deeper(inner);
  // Refused fields with the reasons of each: `{"ref": ["is missing"]}`.
  return Object.entries(value)
    .slice(0, maxErrors)
    .map(([name, reasons]) => [name, deeper(reasons)].filter(Boolean).join(" "))
    .join("; ");
}

/** Upstream's own text in a refusal: from the error fields in use, or the start of the body; empty for a web page. */
export function upstreamWords(body: string): string {
  if (/^\s*</.test(body)) return "";
  return oneLine(textIn(body), maxWordsCharacters).replace(/\.+$/, "");
}

function textIn(body: string): string {
  let json: unknown;
  try {
    json = parseBoundedJson(body);
  } catch {
    return body.slice(0, 4 * maxWordsCharacters);
  }
  if (!isObject(json)) return "";
  const texts = [json.details, json.message, json.error, json.error_description, json.errors]
    .map((value) => wordsIn(value))
    .filter(Boolean);
  return [...new Set(texts)].join(": ");
}
