import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { english } from "../../src/messages/catalogue.ts";
import { fromText } from "../../src/messages/message.ts";

/** What schemas say of themselves where they refuse: every text that `issue()` did not make, with where it stands. */
function uncataloguedIn(value: unknown, at: string, seen: Set<unknown>): readonly string[] {
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const own = "kind" in value && "message" in value && typeof value.message === "string" ? value.message : null;
  const [area = "", key = ""] = own === null ? [] : fromText(own).code.split(".");
  const isKnown = key in ((english as Readonly<Record<string, object>>)[area] ?? {});
  return [
    ...(own === null || (isKnown && area !== "text") ? [] : [`${at}: ${own}`]),
    ...Object.entries(value).flatMap(([name, part]) => uncataloguedIn(part, `${at}.${name}`, seen)),
  ];
}

const root = `${import.meta.dir}/../../src`;
// Schemas stand in what imports the library, and in the plug-ins that an index names.
const files = [...new Bun.Glob("**/*.ts").scanSync(root)]
  .filter((file) => !file.endsWith("-worker.ts"))
  .filter((file) => file.endsWith("/index.ts") || readFileSync(`${root}/${file}`, "utf8").includes('from "valibot"'))
  .toSorted();

test("every refusal of a schema is a sentence of the catalogue, which has it in every language", async () => {
  const seen = new Set<unknown>();
  const found: string[] = [];
  for (const file of files) found.push(...uncataloguedIn(await import(`${root}/${file}`), file, seen));
  expect(found).toEqual([]);
  expect(files).toContain("executors/schema.ts");
  // The walk reaches schemas within schemas, and those of plug-ins.
  expect(seen.size).toBeGreaterThan(1_000);
});
