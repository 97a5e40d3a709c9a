/** Names in a sentence: "a", "b". */
export function quotedList(names: readonly string[], between = ", "): string {
  return names.map((name) => `"${name}"`).join(between);
}
