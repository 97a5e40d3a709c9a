const MAXIMUM_DEPTH = 16;

/** Whether a value is an object of JSON: neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Position after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Whether the string that ends at `end` is a name, followed by a colon. */
function isNameAt(text: string, end: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = end;
  return colon.test(text);
}

/** Walks valid JSON; false for an object with a repeated name, however it is escaped, and for deep nesting. */
function hasOnlyUniqueNames(text: string): boolean {
  // One entry for each open bracket: the names so far, or null for an array.
  const open: (Set<string> | null)[] = [];
  let at = 0;
  while (at < text.length) {
    const letter = text[at];
    if (letter === '"') {
      const end = endOfString(text, at);
      const names = open.at(-1);
      if (names !== undefined && names !== null && isNameAt(text, end)) {
        const name: unknown = JSON.parse(text.slice(at, end));
        if (names.has(String(name))) return false;
        names.add(String(name));
      }
      at = end;
      continue;
    }
    if (letter === "{") open.push(new Set());
    if (letter === "[") open.push(null);
    if (letter === "}" || letter === "]") open.pop();
    if (open.length > MAXIMUM_DEPTH) return false;
    at += 1;
  }
  return true;
}

/**
 * Parses UTF-8 bytes as a JSON object without repeated names: readers differ in which of two they take, and a token (RFC 7515, 4 and RFC
 * 7519, 4) or a key file must be unambiguous. Null for anything else.
 */
export function parseStrictObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return isObject(value) && hasOnlyUniqueNames(text) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
}
