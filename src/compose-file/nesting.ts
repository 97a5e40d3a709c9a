/** Beyond this, nested brackets take the parser seconds. */
export const maxNesting = 200;

export function isTooNested(text: string): boolean {
  let depth = 0;
  for (const letter of text) {
    if (letter === "[" || letter === "{") depth += 1;
    else if ((letter === "]" || letter === "}") && depth > 0) depth -= 1;
    if (depth > maxNesting) return true;
  }
  return false;
}
