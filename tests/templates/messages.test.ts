import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { translateMessage } from "../../templates/texts/messages.ts";
import { sentencesIn } from "../support/sentences.ts";
import { fieldWords } from "./field-words.ts";

const source = resolve(import.meta.dir, "../../src");

function isChinese(message: string): boolean {
  return /\p{Script=Han}/u.test(translateMessage("zh", message));
}

/** With some value in each place, or with nothing where a part can be missing; what was tried is said before its reason. */
function hasChinese(text: string): boolean {
  const reason = text.replace(/^Could not \{\}[:,] /, "");
  return isChinese(reason.replaceAll("{}", "7")) || isChinese(reason.replaceAll("{}", ""));
}

describe("every sentence of the source that people can be told", () => {
  /** Whose texts no page shows, with the reason. */
  const silent: readonly [files: RegExp, reason: string][] = [
    [/^runtimes\/engine\/(?:export\/|pull\.ts|compose\/line-patch\.ts)/, "scripts and files of their own language"],
    [/^(?:main|start|start-steps|config)\.ts$/, "said at the start, on the terminal and in the log"],
    [/^db\/local-client\.ts$/, "faults of ours, which the log tells"],
    [/^commands\//, "said on the terminal"],
    [/^http\/(?:openapi\.ts|api\/)/, "documentation and errors of the API, which speaks English"],
    [/^(?:messages\/|notifications\/message(?:-texts)?\.ts$)/, "has both languages, which the type check sees to"],
  ];
  /** Titles of choices, which fields translate, and pieces that are only said within a sentence of the table below. */
  const pieces = new Set(['The run "{}" belongs to another process now']);
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(source, join(entry.parentPath, entry.name)))
    .filter((file) => !silent.some(([pattern]) => pattern.test(file)))
    .toSorted();
  const isStatement = (text: string) => /^(?:CREATE|INSERT|SELECT|UPDATE) /.test(text);
  const untoldIn = (text: string) =>
    sentencesIn(text).filter(
      ({ text }) => !pieces.has(text) && !fieldWords.has(text) && !isStatement(text) && !hasChinese(text),
    );

  test.each(files)("%s", (file) => {
    const untold = untoldIn(readFileSync(join(source, file), "utf8"));
    expect(untold.map(({ text, line }) => `${line}: ${text}`)).toEqual([]);
  });

  test("all features are looked through, and each exception is still needed", () => {
    for (const folder of [
      "auth",
      "backups",
      "keys",
      "oidc",
      "credentials",
      "trackers",
      "sources",
      "net",
      "http/pages",
    ]) {
      expect(files.some((file) => file.startsWith(`${folder}/`))).toBe(true);
    }
    const said = new Set(
      files.flatMap((file) => sentencesIn(readFileSync(join(source, file), "utf8")).map(({ text }) => text)),
    );
    expect([...pieces, ...fieldWords].filter((text) => !said.has(text))).toEqual([]);
  });

  test("the sentences are found", () => {
    const found = sentencesIn(
      [
        'const a = { code: "x", message: `The $«all.map((each) => `"$«each»" is`).join(", ")» and "$«b»" of ` +',
        '  "one sentence" };',
        'log.info("Nobody reads this one"); v.title("A title of a field"); // "Nor is this one"',
        "const pattern = /'[/\"]/.test(text); throw new Error(`A fault of ours`);",
      ]
        .join("\n")
        .replaceAll("«", "{")
        .replaceAll("»", "}"),
    );
    expect(found).toEqual([{ text: 'The {} and "{}" of one sentence', line: 1 }]);
  });
});

test.each([
  [
    'The image "sha256:1" is used by a snapshot of "web", a snapshot of "db"',
    "镜像“sha256:1”正被“web”的快照、“db”的快照使用",
  ],
  ["Answered 503, expected 2xx or 3xx", "返回 503，期望 2xx 或 3xx"],
  ["Answered 503, expected 200, 204", "返回 503，期望 200, 204"],
])("translateMessage() of %s", (message, expected) => {
  expect(translateMessage("zh", message)).toBe(expected);
  expect(translateMessage("en", message)).toBe(message);
});
