/** Deeper than anything that a peer has to say; what follows a text of ours to its end would run out of stack. */
const maxDepth = 100;
/** Objects and lists together: each takes memory and time for itself, however short it is written. */
const maxContainers = 400_000;
const maxItems = 2_000_000;

/** A text of JSON that is not read, because reading it would cost too much; the message is the end of a sentence. */
export class JsonExcess extends Error {
  constructor(readonly code: "net.json_too_deep" | "net.json_too_many_parts") {
    super(code);
  }
}

/** Position of the quote that ends the string which begins at `start`; the text's end when none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Throws `JsonExcess` for a text that is nested too deep or has too many parts; one look at each character, nothing is built. */
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
 * What a peer sent as JSON. Sixteen megabytes of `{},` would hold up everybody for seconds and take a gigabyte: such a text throws
 * `JsonExcess`, and one that is no JSON a `SyntaxError`.
 */
export function parseBoundedJson(text: string): unknown {
  requireModest(text);
  return JSON.parse(text);
}
