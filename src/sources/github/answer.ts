import * as v from "valibot";
import { PluginError, type PluginErrorCode } from "../../errors.ts";
import { readRetryAfter } from "../../net/rate-headers.ts";
import { readText } from "../../net/read-json.ts";

/** Longest message of an error that carries GitHub's own words, in characters. */
const maxMessageCharacters = 500;

const Refusal = v.object({ message: v.string() });

/** Text from elsewhere on one line and bounded: control characters would let it forge lines or colours. */
export function oneLine(text: string, characters: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length > characters ? `${line.slice(0, characters - 1)}…` : line;
}

/** What GitHub itself said; nothing for a web page. */
function wordsOf(body: string): string {
  if (/^\s*</.test(body)) return "";
  try {
    const refusal = v.safeParse(Refusal, JSON.parse(body));
    return refusal.success ? refusal.output.message : "";
  } catch {
    return body; // a proxy before an instance answers in plain text
  }
}

function codeOf(response: Response): PluginErrorCode {
  const { status, headers } = response;
  if (status === 429) return "rate_limited";
  const isSpent = headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0";
  if (status === 403 && isSpent) return "rate_limited";
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404) return "not_found";
  return status >= 500 ? "unreachable" : "rejected";
}

/** What an answer that is no success means. `action` is what was attempted, so that the message reads `Could not ${action}: …`. */
export async function refusal(response: Response, action: string, now: number): Promise<PluginError> {
  const words = oneLine(wordsOf(await readText(response)), 300);
  const said = words === "" ? `the answer was ${response.status}` : `${words} (${response.status})`;
  const hint = response.status === 404 ? "; a private repository needs a token that may read it" : "";
  return new PluginError(codeOf(response), oneLine(`Could not ${action}: ${said}${hint}`, maxMessageCharacters), {
    retry_after_ms: readRetryAfter(response.headers, now),
  });
}
