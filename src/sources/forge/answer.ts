import type * as v from "valibot";
import type { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { readJson, readText } from "../../net/read-json.ts";
import { codeOfStatus, failure, isWebPage } from "../failure.ts";
import { upstreamWords } from "../words.ts";

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
  const words = upstreamWords(body);
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
