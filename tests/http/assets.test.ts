import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { joinStyles, loadAssets } from "../../src/http/assets.ts";

const folder = join(import.meta.dir, "../../public");
const written = (name: string) => readFileSync(join(folder, name), "utf8");
const named = (within: string, extension: string) =>
  readdirSync(join(folder, within))
    .filter((name) => name.endsWith(extension))
    .toSorted();

// Comments and indentation are left out by pattern, which knows nothing of texts over several lines.
describe("without its comments, what is served still means what was written:", () => {
  const assets = loadAssets(folder, []);
  const script = new Bun.Transpiler({ loader: "js", minifyWhitespace: true });

  test.each(named("", ".js"))("%s", (name) => {
    expect(script.transformSync(assets.text(name))).toBe(script.transformSync(written(name)));
  });

  test("app.css", async () => {
    const meaning = async (text: string) => {
      const built = await Bun.build({
        entrypoints: ["/app.css"],
        files: { "/app.css": text },
        external: ["*"],
        minify: true,
      });
      return await built.outputs[0]?.text();
    };
    const all = named("styles", ".css").map((name) => written(join("styles", name)));
    expect(await meaning(Buffer.from(joinStyles(folder)).toString())).toBe((await meaning(all.join(""))) ?? "");
  });
});

test.each(named("styles", ".css"))(
  "%s: no selector ends in a choice that browsers compare with every element",
  (name) => {
    const ends =
      /(?<![\w)\]-]):is\((?:[a-z]\w*(?:, [a-z]\w*)*|\.[\w-]+(?:, \.[\w-]+)*)\)(?:::?[\w-]+(?:\([^)]*\))?)*(?= \{|,$)/gm;
    expect(written(join("styles", name)).match(ends)).toBeNull();
  },
);

test.each(named("styles", ".css"))("%s: nothing moves for a reader who asks for no motion", (name) => {
  const still = written(join("styles", name)).replaceAll(
    /@media \(prefers-reduced-motion: no-preference\) \{[^}]*\}/g,
    "",
  );
  expect(still.match(/^\s*(?:animation|transition):.*$/gm)).toBeNull();
});
