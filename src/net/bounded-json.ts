/** Deeper than any real peer needs; our own recursive code would run out of stack beyond this. */
const maxDepth = 100;
/** Objects and lists together: each costs memory and time, however short its text is. */
const maxContainers = 400_000;
const maxItems = 2_000_000;

/** JSON that is too expensive to read; the message is the end of a sentence. */
export class JsonExcess extends Error {
  constructor(readonly code: "net.json_too_deep" | "net.json_too_many_parts") {
    super(code);
  }
}

/** Position of the closing quote of the string that begins at `start`; the text's end when there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Throws `JsonExcess` for text that is nested too deep or has too many parts; one pass, without building anything. */
function requireModest(text: string): void {
  let depth = 0;
  let containers = 0;
  let items = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x2c) items += 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      containers += 1;
      if (depth > maxDepth) throw new JsonExcess("net.json_too_deep");
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  if (containers > maxContainers || items > maxItems) throw new JsonExcess("net.json_too_many_parts");
}

/**
 * Parses a peer's JSON. Sixteen megabytes of `{},` would block the process for seconds and take a gigabyte, so such text throws
 * `JsonExcess`; invalid JSON throws a `SyntaxError`.
 */
export function parseBoundedJson(text: string): unknown {
  requireModest(text);
  return JSON.parse(text);
}

/** The same; undefined for text that is not JSON, or too costly. */
export function tryBoundedJson(text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch {
    return undefined;
  }
}
