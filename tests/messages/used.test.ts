import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { english } from "../../src/messages/catalogue.ts";

const root = `${import.meta.dir}/../..`;
const sources = [...new Bun.Glob("{src,templates}/**/*.{ts,tsx}").scanSync(root)]
  .filter((file) => !file.startsWith("src/messages/zh/"))
  .map((file) => readFileSync(`${root}/${file}`, "utf8"));
const all = sources.join("\n");

/** Codes that a source composes: `keys.${name}_key_in_${place}`, with both words as literals in the same file. */
function isComposed(code: string, source: string): boolean {
  const templates = source.match(/(?<=`)[a-z_]+\.(?:[a-z_]*\$\{[^`{}]+\})+[a-z_]*(?=`)/g) ?? [];
  return templates.some((template) => {
    const pattern = template.replaceAll(".", "\\.").replaceAll(/\$\{[^}]+\}/g, "([a-z_]+)");
    const words = new RegExp(`^${pattern}$`).exec(code)?.slice(1);
    return words?.every((word) => source.includes(`"${word}"`)) === true;
  });
}

/** Names of things are given to these functions, and each is the name of a kind. */
function isThing(code: string): boolean {
  const [area, key] = code.split(".");
  const given = new RegExp(`\\b(?:notFound|noSuch|nameTaken|inUse|rowsOf|namedRowsOf)\\([\\w\\s,]*"${key}"`);
  return area === "thing" && given.test(all);
}

test("every sentence of the catalogue is said somewhere", () => {
  const codes = Object.entries(english).flatMap(([area, sentences]) =>
    Object.keys(sentences).map((key) => `${area}.${key}`),
  );
  const unsaid = codes.filter((code) => {
    return !all.includes(`"${code}"`) && !isThing(code) && !sources.some((source) => isComposed(code, source));
  });
  expect(unsaid).toEqual([]);
});
