/** Names in a sentence: "a", "b". */
export function quotedList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}
