import * as v from "valibot";
import type { PluginError } from "../../errors.ts";
import { fromText, type Message, say, withTexts } from "../../messages/message.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import { codeOfStatus, failure, isWebPage, oneLine } from "../failure.ts";

const RegistryErrors = v.object({
  errors: v.array(
    v.object({ code: v.optional(v.unknown()), message: v.optional(v.unknown()), detail: v.optional(v.unknown()) }),
  ),
});
// Token servers and other products use their own forms.
const OtherErrors = v.object({
  details: v.optional(v.string()),
  message: v.optional(v.string()),
  error_description: v.optional(v.string()),
  error: v.optional(v.string()),
});

/** The registry's own text: the messages of its `errors`, or one of the other forms in use; may be empty. */
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
 * The error for an unsuccessful response, with the registry's own text. The caller's HTTP client reads how long to wait.
 */
export function refusal(response: Response, body: string, action: Message): PluginError {
  const { status } = response;
  const { text, codes } = registryWords(body);
  const reason = isWebPage(response, body)
    ? say("sources.answered_by_no_registry", { status })
    : say("sources.answered", { status, said: oneLine(text, 300) });
  if (codes.includes("TOOMANYREQUESTS")) return failure("rate_limited", action, reason);
  // 410 can come from a token server, so it does not mean that the image is missing.
  return failure(status === 410 ? "rejected" : codeOfStatus(status), action, reason);
}

/** Parses a body by its schema. A web page, broken JSON or another form is `malformed`, with the cause. */
export function readJson<S extends v.GenericSchema>(
  schema: S,
  response: Response,
  body: string,
  action: Message,
): v.InferOutput<S> {
  const malformed = (reason: Message, cause?: unknown) => failure("malformed", action, reason, cause);
  if (isWebPage(response, body)) throw malformed(say("sources.page_of_no_registry"));
  let json: unknown;
  try {
    json = parseBoundedJson(body);
  } catch (error) {
    throw malformed(say("sources.json_incomplete"), error);
  }
  const parsed = v.safeParse(schema, json, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const words = registryWords(body).text;
  if (words !== "" && words !== body) throw malformed(say("sources.answer_is_error", { said: oneLine(words, 300) }));
  const issue = parsed.issues[0];
  const path = v.getDotPath(issue);
  const cause = withTexts(fromText(issue.message), (text) => oneLine(text, 200));
  throw malformed(say("sources.unexpected_form", { path: path === null ? null : oneLine(path, 200), cause }));
}
