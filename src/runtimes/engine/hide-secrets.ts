import { type Message, withTexts } from "../../messages/message.ts";

/** Stands where a secret was. */
export const mask = "••••";
/** Shorter values are words and numbers: hiding them would hide the sentence. */
const shortestHidden = 6;

/** What programs and servers say of a target without its secrets, which they quote when they refuse them. */
export function withoutSecrets(said: Message, secrets: readonly string[]): Message {
  const lines = secrets.flatMap((each) => [each, ...each.split("\n").map((line) => line.trim())]);
  // The longest first: a shorter one may be its beginning.
  const hidden = [...new Set(lines)]
    .filter((each) => each.length >= shortestHidden)
    .toSorted((a, b) => b.length - a.length);
  return withTexts(said, (text) => hidden.reduce((now, each) => now.replaceAll(each, mask), text));
}
