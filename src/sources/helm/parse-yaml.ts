import type { ParseYaml } from "./changes.ts";

/** The parser, loaded for the first chart. */
export async function loadYaml(): Promise<ParseYaml> {
  const { parse } = await import("yaml");
  // Every scalar stays a text: `1.10` is not a number. Aliases could turn a small text into a huge one.
  return (text) => parse(text, { schema: "failsafe", uniqueKeys: true, maxAliasCount: 0, prettyErrors: false });
}
