import * as v from "valibot";
import { PluginError, saidBy } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { JsonExcess, parseBoundedJson } from "./bounded-json.ts";

function hostOf(response: Response): Message {
  return URL.canParse(response.url)
    ? say("net.quoted_host", { host: new URL(response.url).host })
    : say("net.upstream");
}

/** Upstream text in a message: control characters could forge lines or colours in a log. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ");
}

/** The text of a response; a body that breaks off, is too large or too late throws a PluginError. */
export async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (cause instanceof PluginError) throw cause;
    throw new PluginError(
      "unreachable",
      say("net.answer_unreadable", { from: hostOf(response), cause: saidBy(cause) }),
      { cause },
    );
  }
}

/**
 * Parses a response body with a schema. Throws `malformed` that quotes where it differs: the start of invalid JSON, or the path of the
 * first wrong field.
 */
export async function readJson<const TSchema extends v.GenericSchema>(
  response: Response,
  schema: TSchema,
): Promise<v.InferOutput<TSchema>> {
  const text = await readText(response);
  const from = hostOf(response);
  let value: unknown;
  try {
    value = parseBoundedJson(text);
  } catch (cause) {
    if (cause instanceof JsonExcess) {
      throw new PluginError("malformed", say(cause.code, { from }), { cause });
    }
    const start = printable(text.trim().slice(0, 80));
    throw new PluginError("malformed", say("net.not_json", { from, start }), { cause });
  }
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const path = printable(v.getDotPath(issue) ?? "the top").slice(0, 200);
  const reason = printable(issue.message.slice(0, 200));
  throw new PluginError("malformed", say("net.unexpected_json", { from, path, reason }));
}
