import * as v from "valibot";
import type { PluginError } from "../../errors.ts";
import { fromText, type Message, say, withTexts } from "../../messages/message.ts";
import { parseBoundedJson } from "../../net/bounded-json.ts";
import { codeOfStatus, type Explain, explained, failure, isWebPage, oneLine } from "../failure.ts";
import { upstreamWords } from "../words.ts";

const Errors = v.object({ errors: v.array(v.object({ code: v.optional(v.unknown()) })) });

function isRateLimit(body: string): boolean {
  try {
    const { errors } = v.parse(Errors, parseBoundedJson(body));
    return errors.some(({ code }) => code === "TOOMANYREQUESTS");
  } catch {
    return false; // another form, which names no such code
  }
}

/**
 * The error for an unsuccessful response, with the registry's own text. The caller's HTTP client reads how long to wait.
 */
export function refusal(response: Response, body: string, action: Message, explain: Explain): PluginError {
  const { status } = response;
  const reason = isWebPage(response, body)
    ? say("sources.answered_by_no_registry", { status })
    : explained(say("sources.answered", { status, said: upstreamWords(body) }), explain(status));
  if (isRateLimit(body)) return failure("rate_limited", action, reason);
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
  const said = upstreamWords(body);
  if (said !== "") throw malformed(say("sources.answer_is_error", { said }));
  const issue = parsed.issues[0];
  const path = v.getDotPath(issue);
  const cause = withTexts(fromText(issue.message), (text) => oneLine(text, 200));
  throw malformed(say("sources.unexpected_form", { path: path === null ? null : oneLine(path, 200), cause }));
}
