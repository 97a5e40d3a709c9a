/**
 * What nobody sees, or what turns the direction of writing: with it a name could look like two lines, or like another name, in
 * whatever shows it later. A lone surrogate has no UTF-8 form.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The text on one line, with an escape (`\u202e`, also valid within JSON) for each character that nobody would see. */
export function visibleText(text: string): string {
  // Nearly every text.
  if (!invisible.test(text)) return text;
  let out = "";
  for (const char of text) out += invisible.test(char) ? char.split("").map(escapeOf).join("") : char;
  return out;
}
