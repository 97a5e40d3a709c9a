import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";

/** Longest message of a `PluginError` that carries a registry's own words, in characters. */
const maxMessageCharacters = 500;

const RegistryErrors = v.object({
  errors: v.array(
    v.object({ code: v.optional(v.unknown()), message: v.optional(v.unknown()), detail: v.optional(v.unknown()) }),
  ),
});
// Token servers and the products around registries have forms of their own.
const OtherErrors = v.object({
  details: v.optional(v.string()),
  message: v.optional(v.string()),
  error_description: v.optional(v.string()),
  error: v.optional(v.string()),
});

/** Text from elsewhere on one line and bounded: control characters would let it forge lines or colours. */
export function oneLine(text: string, characters: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length > characters ? `${line.slice(0, characters - 1)}…` : line;
}

export function isWebPage(response: Response, body: string): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(response.headers.get("content-type") ?? "") || /^\s*</.test(body);
}

/** What the registry itself said: the messages of its `errors`, else the few other forms in use, else nothing. */
export function registryWords(body: string): { text: string; codes: readonly string[] } {
  let json: unknown;
  try {
    json = parseBoundedJson(body);
  } catch {
    return { text: /^\s*</.test(body) ? "" : body, codes: [] };
  }
  const errors = v.safeParse(RegistryErrors, json);
  if (errors.success) {
    const list = errors.output.errors.slice(0, 5);
    const codes = list.map((error) => error.code).filter((code) => typeof code === "string");
    const words = list.map((error) => (typeof error.message === "string" ? error.message : error.code));
    return { text: words.filter((text) => typeof text === "string" && text !== "").join("; "), codes };
  }
  const other = v.safeParse(OtherErrors, json);
  if (!other.success) return { text: "", codes: [] };
  const { details, message, error_description, error } = other.output;
  return { text: details ?? message ?? error_description ?? error ?? "", codes: [] };
}

/**
 * Judges an answer that is no success. `action` is what was attempted ("list the tags of "ghcr.io/a/b""), so that the message
 * reads `Could not ${action}: …`, with the registry's own words, bounded to 500 characters. How long to wait is read by whoever sends
 * requests, who keeps it too.
 */
export function refusal(response: Response, body: string, action: string): PluginError {
  const { text, codes } = registryWords(body);
  const words = oneLine(text, 300);
  const page = isWebPage(response, body) ? "with a web page, so the address may not be a registry" : "";
  const said = [`the answer was ${response.status}`, page, words === "" ? "" : `: ${words}`].filter(Boolean).join(" ");
  const message = oneLine(`Could not ${action}, ${said.replace(" : ", ": ")}`, maxMessageCharacters);
  const { status } = response;
  if (status === 429 || codes.includes("TOOMANYREQUESTS")) return new PluginError("rate_limited", message);
  if (status === 401 || status === 403) return new PluginError("unauthorized", message);
  if (status === 404) return new PluginError("not_found", message);
  if (status >= 500) return new PluginError("unreachable", message);
  return new PluginError("rejected", message);
}

/** Parses the body of a success by its schema; a web page, broken JSON or another shape is `malformed`, with the cause said. */
export function readJson<S extends v.GenericSchema>(
  schema: S,
  response: Response,
  body: string,
  action: string,
): v.InferOutput<S> {
  const malformed = (reason: string, cause?: unknown) =>
    new PluginError("malformed", oneLine(`Could not ${action}, ${reason}`, maxMessageCharacters), { cause });
  if (isWebPage(response, body)) throw malformed("the answer is a web page: the address may not be a registry");
  let json: unknown;
  try {
    json = parseBoundedJson(body);
  } catch (error) {
    throw malformed("the answer is not complete JSON", error);
  }
  const parsed = v.safeParse(schema, json, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const words = registryWords(body).text;
  if (words !== "" && words !== body) throw malformed(`the answer is an error: ${oneLine(words, 300)}`);
  const issue = parsed.issues[0];
  throw malformed(`the answer has another form: ${v.getDotPath(issue) ?? "it"}: ${oneLine(issue.message, 200)}`);
}
