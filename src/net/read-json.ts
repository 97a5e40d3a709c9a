import * as v from "valibot";
import { errorMessage, PluginError } from "../errors.ts";

function hostOf(response: Response): string {
  return URL.canParse(response.url) ? `"${new URL(response.url).host}"` : "The upstream";
}

/** The text of an answer; a body that breaks off, is too large or late is a PluginError. */
export async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (cause instanceof PluginError) throw cause;
    throw new PluginError(
      "unreachable",
      `The answer of ${hostOf(response)} could not be read: ${errorMessage(cause)}`,
      { cause },
    );
  }
}

/**
 * The body of an answer as a schema makes it. Throws `malformed` that quotes where it differs: the start of what is no JSON,
 * or the path of the first wrong field. `maxBytes` narrows the limit that the answer came under.
 */
export async function readJson<const TSchema extends v.GenericSchema>(
  response: Response,
  schema: TSchema,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<v.InferOutput<TSchema>> {
  const text = await readText(response);
  const from = hostOf(response);
  if (text.length > maxBytes) {
    throw new PluginError("malformed", `${from} answered with ${text.length} characters, at most ${maxBytes} are read`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const start = text.trim().slice(0, 80).replace(/\s+/g, " ");
    throw new PluginError("malformed", `${from} answered with something that is not JSON: "${start}"`, { cause });
  }
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue) ?? "the top";
  throw new PluginError(
    "malformed",
    `${from} answered with unexpected JSON at ${path}: ${issue.message.slice(0, 200)}`,
  );
}
