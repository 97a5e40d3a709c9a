import { openDocument } from "./document.ts";
import { leavesOf } from "./leaves.ts";
import { type StackVariable, variablesOf } from "./read-compose-file.ts";

/** What the file hands to containers and builds, with variables replaced: `environment`, `args`, and the `content` of configs. */
export async function settingValues(text: string, env: readonly StackVariable[]): Promise<readonly string[]> {
  const { document } = await openDocument(text);
  const leaves = document === null ? null : leavesOf(document, variablesOf(env));
  return (leaves ?? []).flatMap(({ path, value }) => {
    const [parent, own = ""] = path.slice(-2);
    if (path.length === 3 && own === "content") return [value];
    if (parent !== "environment" && parent !== "args") return [];
    return [/^\d+$/.test(own) ? value.slice(value.indexOf("=") + 1) : value];
  });
}
