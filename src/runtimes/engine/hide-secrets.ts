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
  return withTexts(said, (text) => {
    const whole = hidden.reduce((now, each) => now.replaceAll(each, mask), text);
    // Where a text was cut, only a part of a secret may be left.
    const pieces = whole.split(/( ?… ?)/);
    return pieces.map((piece, at) => withoutParts(piece, hidden, at > 0, at < pieces.length - 1)).join("");
  });
}

/** Long words of others, cut as `withoutSecrets` expects it. */
export function cutTo(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)} …`;
}

function withoutParts(piece: string, secrets: readonly string[], isCutBefore: boolean, isCutAfter: boolean): string {
  const head = isCutBefore
    ? longestPart(secrets, piece.length, (each, length) => piece.startsWith(each.slice(-length)))
    : 0;
  const tail = isCutAfter
    ? longestPart(secrets, piece.length, (each, length) => piece.endsWith(each.slice(0, length)))
    : 0;
  const kept = piece.slice(head, Math.max(head, piece.length - tail));
  return `${head === 0 ? "" : mask}${kept}${tail === 0 ? "" : mask}`;
}

/** How many characters of any secret fit; 0 for too few to hide. */
function longestPart(
  secrets: readonly string[],
  maxLength: number,
  fits: (secret: string, length: number) => boolean,
): number {
  let longest = 0;
  for (const secret of secrets) {
    const least = Math.max(longest + 1, shortestHidden);
    for (let length = Math.min(maxLength, secret.length - 1); length >= least; length -= 1) {
      if (!fits(secret, length)) continue;
      longest = length;
      break;
    }
  }
  return longest;
}
