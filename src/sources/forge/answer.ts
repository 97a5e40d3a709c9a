import type * as v from "valibot";
import type { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { readJson, readText } from "../../net/read-json.ts";
import { codeOfStatus, type Explain, explainAccess, explained, failure, isWebPage } from "../failure.ts";
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

/** What a forge's refusal may mean: forges hide a private repository behind a 404, and git behind a 401. */
export function explainForge(token: string | null, unreadable: Message): Explain {
  return explainAccess({
    has_credential: token !== null,
    hidden: say("sources.private_or_missing"),
    unreadable,
    hiding: { anonymous: [401, 404], signed_in: [403, 404] },
  });
}

/** The error for an unsuccessful response. */
export async function readForgeError(response: Response, action: Message, explain: Explain): Promise<PluginError> {
  const { status, reason } = await readRefusal(response);
  return failure(codeOfStatus(status), action, explained(reason, explain(status)));
}

/** The body by its schema. Throws a PluginError for a refusal, a web page, broken JSON, or another form. */
export async function readForgeJson<const S extends v.GenericSchema>(
  response: Response,
  schema: S,
  action: Message,
  explain: Explain,
): Promise<v.InferOutput<S>> {
  if (!response.ok) throw await readForgeError(response, action, explain);
  if (isWebPage(response)) throw failure("malformed", action, say("sources.page_of_no_forge"));
  return await readJson(response, schema);
}
