import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const text = readFileSync(join(root, "docs/security.md"), "utf8");
/** The rows of the table, by their line. */
const rows = [
  ...text.matchAll(/^\| ((?:SSRF|RX|PEER|COST|AUTH|OIDC|SEC|REL|SUP)-\d+) \| .+ \| (.+) \| (yes)? ?\|$/gm),
].map(([, id = "", shown = "", tried]) => ({ id, shown, is_tried: tried === "yes" }));
const numbered = (name: string, last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => `${name}-${first + index}`);

test("the table of docs/security.md has every line once", () => {
  expect(rows.map(({ id }) => id)).toEqual([
    ...numbered("SSRF", 10),
    ...numbered("RX", 2),
    ...numbered("PEER", 2),
    ...numbered("COST", 1),
    ...numbered("AUTH", 14),
    ...numbered("OIDC", 6),
    ...numbered("SEC", 5),
    ...numbered("REL", 4),
    ...numbered("REL", 16, 12),
    ...numbered("SUP", 2),
  ]);
  expect(rows.filter(({ is_tried }) => is_tried).length).toBeGreaterThanOrEqual(20);
});

test.each(rows)("$id names tests that are there", ({ shown }) => {
  const files = shown.split(/(?=`tests\/)/).filter((part) => part.startsWith("`tests/"));
  for (const part of files) {
    const path = /^`(tests\/[\w./-]+)`: /.exec(part)?.[1] ?? "";
    expect([path, existsSync(join(root, path))]).toEqual([path, true]);
    const source = readFileSync(join(root, path), "utf8").replaceAll('\\"', '"');
    // Names end at a quote that a separator or the end of the cell follows.
    const names = [...part.slice(part.indexOf(": ")).matchAll(/"(.+?)"(?=;|\s*$)/g)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect([name, source.includes(name)]).toEqual([name, true]);
  }
});
