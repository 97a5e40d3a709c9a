import { describe, expect, test } from "bun:test";
import { parse, stringify } from "yaml";
import { PluginError } from "../../../src/errors.ts";
import { say } from "../../../src/messages/message.ts";
import { readIndex } from "../../../src/sources/helm/read-index.ts";

const base = new URL("https://charts.example/stable/");

/** The bytes in pieces of a given size: a scanner must not care where they are cut. */
function bodyOf(text: string | Uint8Array, size = 65_536): ReadableStream<Uint8Array> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

const action = say("sources.read_chart_repository", { url: "https://charts.example/stable/" });

async function readWhole(text: string | Uint8Array, chart = "app", size?: number) {
  const { signal } = new AbortController();
  return await readIndex(bodyOf(text, size), { chart, base, action, signal });
}

/** Without what is not remembered between checks. */
async function read(text: string | Uint8Array, chart = "app", size?: number) {
  return (await readWhole(text, chart, size)).map(({ archive: _, ...rest }) => rest);
}

async function failureOf(text: string | Uint8Array, chart = "app"): Promise<PluginError> {
  const error: unknown = await read(text, chart).then(
    (versions) => new Error(`read ${JSON.stringify(versions)}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PluginError)) throw error;
  expect(error.message).toMatch(/^\p{Lu}.*[^.]$/su);
  expect(error.message.length).toBeLessThanOrEqual(500);
  expect(error.message).not.toMatch(/[\n\r]/);
  return error;
}

const digest = "0123456789abcdef".repeat(4);

const helmStyle = `apiVersion: v1
entries:
  aaa:
  - apiVersion: v2
    description: 'of another chart: app:'
    version: 9.9.9
  app:
  - annotations:
      artifacthub.io/changes: |
        - kind: added
          description: A new thing
          links:
            - name: Issue
              url: https://example.com/1
        - kind: security
          description: "Closed: a hole"
    apiVersion: v2
    appVersion: "1.10"
    created: "2026-01-02T03:04:05.123456789Z"
    dependencies:
    - name: common
      repository: https://other.example
      version: 2.x.x
    description: A chart
    digest: ${digest}
    home: https://app.example
    name: app
    type: application
    urls:
    - app-1.1.0.tgz
    version: 1.1.0
  - apiVersion: v2
    appVersion: 1.10
    created: "2025-01-02T03:04:05Z"
    deprecated: true
    description: |-
      entries:
        app:
        - version: 6.6.6
    digest: sha256:${digest.toUpperCase()}
    name: app
    urls:
    - https://elsewhere.example/app-1.0.0.tgz
    version: 1.0.0-rc.1+build.5
  zzz:
  - version: 8.8.8
generated: "2026-01-02T03:04:05Z"
`;

const both = [
  {
    version: "1.1.0",
    app_version: "1.10",
    digest: `sha256:${digest}`,
    created_at: Date.UTC(2026, 0, 2, 3, 4, 5, 123),
    url: "https://app.example/",
    is_deprecated: false,
    notes: "- **Added:** A new thing ([Issue](https://example.com/1))\n- **Security:** Closed: a hole",
  },
  {
    version: "1.0.0-rc.1+build.5",
    app_version: "1.10",
    digest: `sha256:${digest}`,
    created_at: Date.UTC(2025, 0, 2, 3, 4, 5),
    url: "https://elsewhere.example/app-1.0.0.tgz",
    is_deprecated: true,
    notes: null,
  },
];

/** The same index as other tools would write it. */
const styles: Readonly<Record<string, string>> = {
  "as helm writes it": helmStyle,
  "with the lines of Windows": helmStyle.replaceAll("\n", "\r\n"),
  "with a byte order mark, a directive and document marks": `\uFEFF# made by hand\n%YAML 1.1\n---\n${helmStyle}...\n---\nentries:\n  app:\n  - version: 7.7.7\n`,
  "with lists deeper than their keys": stringify(parse(helmStyle, { schema: "failsafe" }), { indentSeq: true }),
  "with lists at their keys": stringify(parse(helmStyle, { schema: "failsafe" }), { indentSeq: false }),
  "indented by four": stringify(parse(helmStyle, { schema: "failsafe" }), { indent: 4 }),
  "with long texts folded and everything quoted": stringify(parse(helmStyle, { schema: "failsafe" }), {
    lineWidth: 20,
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "QUOTE_DOUBLE",
  }),
  "with single quotes": stringify(parse(helmStyle, { schema: "failsafe" }), {
    lineWidth: 20,
    defaultStringType: "QUOTE_SINGLE",
    defaultKeyType: "QUOTE_SINGLE",
  }),
  "with the version's keys in another order": helmStyle
    .replace("  - apiVersion: v2\n    appVersion: 1.10\n", "  - version: 1.0.0-rc.1+build.5\n    appVersion: 1.10\n")
    .replace("    version: 1.0.0-rc.1+build.5\n", ""),
  "with comments everywhere": helmStyle.replaceAll(
    /^(\s*)(version|digest|urls|app|entries):/gm,
    "# app:\n$1# version: 5\n$1$2:",
  ),
  "with comments behind the values": helmStyle.replaceAll(
    /^( {4}(?:version|appVersion|digest|name): .*)$/gm,
    "$1 # it's: fine",
  ),
  "as JSON": JSON.stringify(parse(helmStyle, { schema: "failsafe" })),
  "as JSON over lines": JSON.stringify(parse(helmStyle, { schema: "failsafe" }), null, 2),
  "as JSON with tabs and a document mark": `---\n${JSON.stringify(parse(helmStyle, { schema: "failsafe" }), null, "\t")}\n`,
  "as JSON with a number": JSON.stringify(parse(helmStyle, { schema: "failsafe" })).replaceAll('"1.10"', "1.10"),
  "with versions in braces": `entries:\n  app:\n${both
    .map(
      (each, index) =>
        `  - {version: ${each.version}, appVersion: 1.10, digest: ${each.digest}, deprecated: ${each.is_deprecated}, created: "${index === 0 ? "2026-01-02T03:04:05.123Z" : "2025-01-02T03:04:05Z"}",\n     urls: ["${each.url}"${index === 0 ? `], annotations: {artifacthub.io/changes: "[{kind: added, description: A new thing, links: [{name: Issue, url: https://example.com/1}]},\n  {kind: security, description: 'Closed: a hole'}]"}` : "]"}}\n`,
    )
    .join("")}  zzz: []\n`,
};

describe("readIndex()", () => {
  test("tells where the archives are", async () => {
    expect((await readWhole(helmStyle)).map(({ archive }) => archive)).toEqual([
      "https://charts.example/stable/app-1.1.0.tgz",
      "https://elsewhere.example/app-1.0.0.tgz",
    ]);
  });

  test.each(Object.entries(styles))("reads an index %s, wherever its bytes are cut", async (_, text) => {
    for (const size of [1, 2, 3, 7, 64, 1_000, 65_536]) expect(await read(text, "app", size)).toEqual(both);
  });

  test.each<[string, string, string]>([
    ["a literal text", "|\n      app:\n      - version: 6.6.6\n\n      more: \"'\n", ""],
    ["a folded text with an indentation of its own", ">2-\n        app:\n      'odd\n", ""],
    ["a quoted text over lines", '"one\n      app:\n      - version: 6.6.6 \\" \\\\\n      end"\n', ""],
    ["a quoted text that is not indented", '"one\napp:\n- version: 6.6.6\n  app:\n  end"\n', ""],
    ["a single-quoted text over lines", "'it''s\n  app:\n  - version: 6.6.6\n      end'\n", ""],
    ["a plain text over lines", "one\n      \"two\n      'three\n      four # five\n", ""],
    ["a text below its key", '\n      "one: \\"\n      app:" \n', ""],
    ["a plain text below its key", "\n      it's\n      \"one\n", ""],
    ["brackets over lines", "[ one,\n  app: {version: '6.6.6',\n x: \"]\" },\n]\n", ""],
    ["an anchor and an alias of another chart", "&a !!str text\n    keywords: *a\n", ""],
    ["an empty value before a comment", "# nothing: \"'\n", ""],
  ])("is not led astray by %s of another chart", async (_, value) => {
    const text = `entries:\n  other:\n  - description: ${value}    version: 1.0.0\n  app:\n  - version: 1.2.3\n`;
    expect((await read(text)).map((each) => each.version)).toEqual(["1.2.3"]);
    // The same inside the wanted chart, in a key that is left out and in one that is read.
    const inside = `entries:\n  app:\n  - description: ${value}    version: 1.2.3\n`;
    expect((await read(inside)).map((each) => each.version)).toEqual(["1.2.3"]);
  });

  test("keeps versions and app versions as the texts that they are", async () => {
    const text = `entries:\n  app:\n  - version: 1.10\n    appVersion: 1.10\n  - version: 1.0.0\n    appVersion: 2024-01-01\n  - version: 0x10\n    appVersion: 1e3\n  - version: "2"\n    appVersion: null\n`;
    expect((await read(text)).map(({ version, app_version }) => [version, app_version])).toEqual([
      ["1.10", "1.10"],
      ["1.0.0", "2024-01-01"],
      ["2", null],
    ]);
  });

  test("leaves out what is no version, and takes the first of two", async () => {
    const long = "1".repeat(10_000);
    const text = `entries:\n  app:\n  - version: ${long}\n  - version: 1.0.0\n    digest: ${digest}\n  - name: app\n  - version: 1.0.0\n  - version: ../x\n`;
    const versions = await read(text);
    expect(versions.map((each) => each.version)).toEqual(["1.0.0"]);
    expect(versions[0]?.digest).toBe(`sha256:${digest}`);
  });

  test.each<[string, unknown, string | null]>([
    ["relative", ["charts/app.tgz"], "https://charts.example/stable/charts/app.tgz"],
    ["from the root", ["/app.tgz"], "https://charts.example/app.tgz"],
    ["absolute", ["http://cdn.example/app.tgz"], "http://cdn.example/app.tgz"],
    ["a script", ["javascript:alert(1)", "app.tgz"], "https://charts.example/stable/app.tgz"],
    ["with a password", ["https://user:pass@cdn.example/app.tgz"], null],
    ["missing", undefined, null],
    ["no list", "app.tgz", null],
  ])("resolves an address that is %s", async (_, urls, expected) => {
    const text = stringify({ entries: { app: [{ version: "1.0.0", urls }] } });
    expect((await read(text))[0]?.url).toBe(expected);
  });

  test.each<[string, string]>([
    ["nothing", "null"],
    ["a time before there were charts", "0001-01-01T00:00:00Z"],
    ["no time", "yesterday"],
  ])("takes %s for no publish time", async (_, created) => {
    expect((await read(`entries:\n  app:\n  - version: 1.0.0\n    created: "${created}"\n`))[0]?.created_at).toBeNull();
  });

  test.each<[string, string]>([
    ["no digest", ""],
    ["half a digest", "sha256:0123"],
    ["another word", "sha256:latest"],
  ])("takes %s for no revision", async (_, written) => {
    expect((await read(`entries:\n  app:\n  - version: 1.0.0\n    digest: ${written}\n`))[0]?.digest).toBeNull();
  });

  test.each<[string, string, string | null]>([
    ["texts", "- one\n- two\n  more", "- one\n- two more"],
    ["a broken list", "- [", null],
    ["no list", "just words", null],
    ["a dangerous link", "- description: x\n  links: [{name: y, url: 'javascript:alert(1)'}]", "- x"],
    ["an alias", "- &a one\n- *a", null],
  ])("makes notes of changes that are %s", async (_, changes, expected) => {
    const annotations = { "artifacthub.io/changes": changes };
    const text = stringify({ entries: { app: [{ version: "1.0.0", annotations }] } });
    expect((await read(text))[0]?.notes).toBe(expected);
  });

  test("reads characters that are cut in their middle", async () => {
    const text = 'entries:\n  app:\n  - version: 1.0.0\n    appVersion: "中文 🚢"\n';
    for (const size of [1, 2, 3, 5]) expect((await read(text, "app", size))[0]?.app_version).toBe("中文 🚢");
  });

  test.each<[string, string]>([
    ["an empty list", "entries:\n  app: []\n"],
    ["nothing", "entries:\n  app:\n  other:\n  - version: 1.0.0\n"],
    ["null", "entries:\n  app: null\n"],
    ["an empty list in JSON", '{"entries":{"app":[]}}'],
  ])("gives no version for a chart with %s", async (_, text) => {
    expect(await read(text)).toEqual([]);
  });

  test.each<[string, string, string]>([
    ["an empty answer", "", "the response is empty"],
    ["only comments", "# nothing\n---\n", "the response is empty"],
    ["a web page", "\n  <!doctype html>\n<title>hello</title>", "is a web page"],
    ["plain words", "Service unavailable\n", "is not a mapping"],
    ["a list", "- a\n- b\n", "is a list"],
    ["a list in JSON", "[1, 2]", "is a list"],
    ["no entries", "apiVersion: v1\ncharts: {}\n", 'it has no "entries"'],
    ["no entries in JSON", '{"apiVersion":"v1"}', 'it has no "entries"'],
    ["an error in JSON", '{"message":"not found"}', 'it has no "entries"'],
    ["entries that are a list", "entries:\n- app\n", '"entries" is not a mapping'],
    ["entries that are a deeper list", "entries:\n  - app\n", '"entries" is not a mapping'],
    ["entries that are a text", "entries: hello\n", '"entries" is not a mapping'],
    ["entries twice", "entries:\n  app: []\nentries:\n  app: []\n", '"entries" appears twice'],
    ["the chart twice", "entries:\n  app:\n  - version: 1.0.0\n  app:\n  - version: 2.0.0\n", "appears twice"],
    ["the chart twice in JSON", '{"entries":{"app":[],"app":[]}}', "appears twice"],
    ["a key twice", "entries:\n  app:\n  - version: 1.0.0\n    version: 2.0.0\n", "keys must be unique"],
    ["versions that are a mapping", "entries:\n  app:\n    version: 1.0.0\n", "are not a list"],
    ["versions that are a mapping in JSON", '{"entries":{"app":{"version":"1"}}}', "are not a list"],
    ["versions that are a text", "entries:\n  app: hello\n", "are not a list"],
    ["an alias", "x: &a [1]\nentries:\n  app:\n  - version: 1.0.0\n    urls: *a\n", "Alias resolution is disabled"],
    ["JSON that breaks off", '{"entries":{"app":[{"version":"1.0', "ends in the middle of its JSON"],
    ["JSON with wrong brackets", '{"entries":{"app":[}]}', "brackets do not match"],
    ["a quoted text without end", 'entries:\n  app:\n  - version: "1.0.0\n', "is not closed"],
    ["only words for versions", "entries:\n  app:\n  - version: latest\n", 'the first is "latest"'],
    ["one endless version", `entries:\n  app:\n  - version: "${"1".repeat(10_000)}"\n`, "no usable version"],
    ["a version of 300 KiB", `entries:\n  app:\n  - home: "${"1".repeat(300_000)}"\n`, "more than 256 KiB"],
    ["a version of 300 KiB in JSON", `{"entries":{"app":[{"home":"${"1".repeat(300_000)}"}]}}`, "more than 256 KiB"],
    [
      "a line of 5 MiB",
      `entries:\n  other:\n  - icon: "${"1".repeat(5 * 1024 * 1024)}"\n`,
      "a line has more than 4 MiB",
    ],
    ["deep brackets", `{"entries":${"[".repeat(1_000)}`, '"entries" is not a mapping'],
    ["deep brackets in a version", `{"entries":{"app":[${"[".repeat(100_000)}`, "nested deeper than 64"],
    ["bytes that are no text", "\u0000\u0001\u0002\n", "is not a mapping"],
  ])("says what is wrong with %s", async (_, text, words) => {
    const error = await failureOf(text);
    expect(error.code).toBe("malformed");
    expect(error.said).toMatchObject({ code: "sources.failed", params: { action } });
    expect(error.message).toContain(words);
  });

  test("grows by no alias, however often they are nested", async () => {
    const bomb = Array.from(
      { length: 9 },
      (_, n) => `    k${n + 1}: &k${n + 1} [${`*k${n}, `.repeat(9)}*k${n}]\n`,
    ).join("");
    const text = `entries:\n  app:\n  - version: 1.0.0\n    annotations:\n      k0: &k0 lol\n${bomb.replaceAll(/^ {4}/gm, "      ")}`;
    expect((await failureOf(text)).code).toBe("malformed");
  });

  test("names the charts that are similar to one that is not there", async () => {
    const names = ["ingress-nginx", "nginx", "nginx-ingress", "postgresql", "kube-prometheus-stack", "appp"];
    const text = stringify({ entries: Object.fromEntries(names.map((name) => [name, []])) });
    const misspelt = await failureOf(text, "ngnix");
    expect(misspelt.code).toBe("not_found");
    expect(misspelt.message).toContain('there is no chart "ngnix"; the repository has 6 other charts, such as "nginx"');
    expect((await failureOf(text, "prometheus")).message).toContain('such as "kube-prometheus-stack"');
    expect((await failureOf(text, "zzzzzz")).message).toEndWith("the repository has 6 other charts");
    expect((await failureOf("entries: {}\n")).message).toEndWith("the repository has no charts");
    expect((await failureOf('{"entries":{}}')).code).toBe("not_found");
  });

  test("gives the body up at the first error", async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("<html>")),
      cancel: () => {
        isCancelled = true;
      },
    });
    const { signal } = new AbortController();
    await expect(readIndex(body, { chart: "app", base, action, signal })).rejects.toMatchObject({
      code: "malformed",
    });
    expect(isCancelled).toBe(true);
  });

  test("refuses more versions than it keeps", async () => {
    const lines = Array.from({ length: 20_001 }, (_, n) => `  - version: 1.0.${n}\n`);
    expect((await failureOf(`entries:\n  app:\n${lines.join("")}`)).message).toContain("more than 20000 versions");
  });
});
