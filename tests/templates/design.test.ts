import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const folder = join(import.meta.dir, "../../templates");

interface Component {
  name: string;
  /** Of `templates/`. */
  folder: string;
  is_exported: boolean;
  /** It has elements of its own: a component that is made of others is seen with them. */
  has_elements: boolean;
  /** Names of the components in its body. */
  draws: readonly string[];
}

/** Every function of the templates with a capital letter. */
function componentsIn(path: string): Component[] {
  const text = readFileSync(join(folder, path), "utf8");
  const functions = [...text.matchAll(/^(export )?function ([A-Z]\w*)[\s\S]*?^}$/gm)];
  return functions.map(([body, exported, name = ""]) => ({
    name,
    folder: basename(dirname(path)),
    is_exported: exported !== undefined,
    has_elements: /<[a-z][\w-]*[\s>/]/.test(body),
    draws: [...body.matchAll(/<([A-Z]\w*)/g)].map(([, drawn = ""]) => drawn),
  }));
}

const components = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".tsx"))
  .flatMap(componentsIn);

/** Those that the pages of `/design` draw, themselves or within others. */
function drawn(): Set<string> {
  const found = new Set<string>();
  const waiting = components.filter((each) => each.folder === "design").map(({ name }) => name);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    waiting.push(...components.filter((each) => each.name === name).flatMap(({ draws }) => draws));
  }
  return found;
}

/** What is not seen by itself: it carries changes to an open page, or is a whole page. */
const withoutLook = ["BulkGonePage", "Live", "Partial"];

test("/design shows every component", () => {
  const shown = drawn();
  const missing = components
    .filter((each) => each.folder === "components" && each.is_exported && each.has_elements)
    .map(({ name }) => name)
    .filter((name) => !shown.has(name));
  expect(missing.toSorted()).toEqual(withoutLook);
});
