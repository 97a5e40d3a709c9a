/** One way to authenticate, from `WWW-Authenticate` (RFC 9110, 11.6.1). */
export interface Challenge {
  /** In lower case: `bearer`, `basic`. */
  scheme: string;
  /** Names in lower case; the first of equal names counts. */
  parameters: ReadonlyMap<string, string>;
}

// No real server sends longer challenges.
const maxHeaderCharacters = 8_192;

const separators = /[\s,]*/y;
const word = /[^\s,="]+/y;
const equals = /\s*=\s*/y;
const quoted = /"((?:[^"\\]|\\.)*)"?/y;
// Beyond the RFC: some servers do not quote addresses, so a bare value ends only at a comma or a space.
const bare = /[^\s,]*/y;
const token68 = /[ \t]+([A-Za-z0-9\-._~+/]+=*)[ \t]*(?=,|$)/y;

function take(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * The challenges of a `WWW-Authenticate` header, in order. Commas join several headers and also separate parameters, so a word without
 * `=` starts the next challenge. Invalid parts are left out; it never throws.
 */
export function parseChallenges(header: string | null): readonly Challenge[] {
  const text = (header ?? "").slice(0, maxHeaderCharacters);
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  while (at < text.length) {
    at += take(separators, text, at)?.[0].length ?? 0;
    const name = take(word, text, at)?.[0];
    if (name === undefined) {
      at += 1;
      continue;
    }
    at += name.length;
    const sign = take(equals, text, at)?.[0];
    if (sign === undefined) {
      challenges.push({ scheme: name.toLowerCase(), parameters: new Map() });
      at += take(token68, text, at)?.[0].length ?? 0;
      continue;
    }
    at += sign.length;
    const inQuotes = take(quoted, text, at);
    const value = inQuotes === null ? (take(bare, text, at)?.[0] ?? "") : (inQuotes[1] ?? "").replace(/\\(.)/g, "$1");
    at += inQuotes === null ? value.length : inQuotes[0].length;
    const parameters = challenges.at(-1)?.parameters;
    const key = name.toLowerCase();
    if (parameters !== undefined && !parameters.has(key)) parameters.set(key, value);
  }
  return challenges;
}
