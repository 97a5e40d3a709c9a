/**
 * Invisible characters and those that change the text direction: with them, a name could look like two lines or like another name wherever
 * it is shown. A lone surrogate has no UTF-8 form.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The text on one line, with an escape (`\u202e`, also valid within JSON) for each invisible character. */
export function visibleText(text: string): string {
  // Nearly every text.
  if (!invisible.test(text)) return text;
  let out = "";
  for (const char of text) out += invisible.test(char) ? char.split("").map(escapeOf).join("") : char;
  return out;
}
