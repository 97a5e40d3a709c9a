import type { ParseYaml } from "./changes.ts";

/** The parser, loaded when the first chart needs it. */
export async function loadYaml(): Promise<ParseYaml> {
  const { parse } = await import("yaml");
  // Every scalar stays the text that it is: `1.10` is no number. Aliases are how a small text becomes a large one.
  return (text) => parse(text, { schema: "failsafe", uniqueKeys: true, maxAliasCount: 0, prettyErrors: false });
}
