import * as v from "valibot";

/** Parses YAML into plain values whose scalars are all text; throws if it is invalid. */
export type ParseYaml = (text: string) => unknown;

/** Longer change lists are not read. */
const maxChangesCharacters = 32 * 1024;
const maxChanges = 200;

const Change = v.union([
  v.string(),
  v.object({
    kind: v.fallback(v.optional(v.string(), ""), ""),
    description: v.string(),
    links: v.fallback(v.optional(v.array(v.object({ name: v.string(), url: v.string() })), []), []),
  }),
]);

// Further lines of an item are indented, so that it stays one item.
function indented(text: string): string {
  return text.trim().replace(/\r?\n/g, "\n  ");
}

function linkTo({ name, url }: { name: string; url: string }): string | null {
  if (!/^https?:\/\/[^\s<>()]+$/i.test(url)) return null;
  return `[${name.replace(/[[\]\s]+/g, " ").trim() || "link"}](${url})`;
}

function lineOf(change: v.InferOutput<typeof Change>): string {
  if (typeof change === "string") return `- ${indented(change)}`;
  const kind = /^[a-z]{1,20}$/i.test(change.kind)
    ? `**${change.kind[0]?.toUpperCase()}${change.kind.slice(1).toLowerCase()}:** `
    : "";
  const links = change.links.map(linkTo).filter((link) => link !== null);
  return `- ${kind}${indented(change.description)}${links.length === 0 ? "" : ` (${links.join(", ")})`}`;
}

/**
 * The annotation `artifacthub.io/changes` as a Markdown list. It has YAML: a list of texts or of `{ kind, description, links }`. Null if
 * it is absent or invalid: notes are no reason to fail.
 */
export function changesToMarkdown(annotation: unknown, parse: ParseYaml): string | null {
  if (typeof annotation !== "string" || annotation.trim() === "" || annotation.length > maxChangesCharacters)
    return null;
  let list: unknown;
  try {
    list = parse(annotation);
  } catch {
    return null; // a broken list inside a good index
  }
  if (!Array.isArray(list)) return null;
  const lines = list
    .slice(0, maxChanges)
    .map((item) => v.safeParse(Change, item))
    .filter((parsed) => parsed.success)
    .map((parsed) => lineOf(parsed.output));
  return lines.length === 0 ? null : lines.join("\n");
}
