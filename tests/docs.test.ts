import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "..");
const pages = ["README.md", "tests/README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];

/** Links to files, and paths in code that begin with a folder of the repository. */
function pathsIn(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  const links = [...text.matchAll(/\]\(([^)#]+?)(?:#[^)]*)?\)/g)].map(([, path = ""]) => path);
  const named = [...text.matchAll(/`((?:src|templates|tests|public|bench|migrations)\/[\w./-]+)`/g)];
  return [
    ...links.filter((path) => !/^[a-z]+:/.test(path)).map((path) => join(dirname(page), path)),
    ...named.map(([, path = ""]) => path),
  ];
}

test.each(pages.filter((page) => page.endsWith(".md")))("%s names only files that exist", (page) => {
  expect(pathsIn(page).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** As GitHub forms them: lower case, without punctuation, with a hyphen for each space. */
function anchorsOf(page: string): string[] {
  const prose = readFileSync(join(root, page), "utf8").replace(/^```.*?^```/gms, "");
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => title.replace(/\]\([^)]*\)/g, ""));
  return headings.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages.filter((page) => page.endsWith(".md")))("%s links only to headings that exist", (page) => {
  const links = [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([\w./-]*)#([^)]+)\)/g)];
  const missing = links.filter(([, path = "", anchor = ""]) => {
    return !anchorsOf(path === "" ? page : join(dirname(page), path)).includes(anchor);
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

test("the map lists every decision", () => {
  const map = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const missing = readdirSync(join(root, "docs/decisions")).filter((name) => !map.includes(`(decisions/${name})`));
  expect(missing).toEqual([]);
});
