import { describe, expect, test } from "bun:test";
import { findBreakingChanges } from "../../src/versions/breaking-changes.ts";

const texts = (notes: string) => findBreakingChanges(notes).map(({ text }) => text);

describe("findBreakingChanges() marks", () => {
  test.each([
    ["BREAKING CHANGE: the port is 80 now"],
    ["BREAKING CHANGES: see below"],
    ["**BREAKING**: the port is 80 now"],
    ["- [BREAKING] drop Node 16"],
    ["- Breaking: drop Node 16"],
    ["- 💥 This is a breaking change"],
    ["- feat!: drop Node 16"],
    ["* feat(api)!: drop Node 16"],
    ["* **core:** refactor!: drop Node 16"],
    ["Action required: rotate the keys"],
    ["Manual intervention is needed"],
    ["Migration required before the update"],
    ["A backwards-incompatible change of the API"],
    ["- 此版本包含不兼容的变更"],
    ["> ⚠️ Breaking"],
  ])("%s", (line) => expect(findBreakingChanges(`Some text\n\n${line}\n\nMore text`)).toHaveLength(1));
});

describe("findBreakingChanges() passes over", () => {
  test.each([
    ["No breaking changes"],
    ["There are no known breaking changes in this release"],
    ["- a non-breaking fix"],
    ["- fix line breaking in titles"],
    ["- fix the broken link"],
    ["No action required"],
    ["- wow!"],
    ["Warning!: read this"],
    ["- fix a slash breaking the page"],
    ["- the update was breaking links"],
    ["- surprise !: nothing"],
    ["- 没有不兼容的变更"],
    ["```\nBREAKING CHANGE: in code\n```"],
    ["## Breaking changes\n\nNone."],
    ["## Breaking Changes\n- none"],
    [""],
  ])("%p", (notes) => expect(texts(notes)).toEqual([]));
});

describe("findBreakingChanges()", () => {
  test("names the entries under a heading that says so", () => {
    const notes = "## 💥 Breaking changes\n\n- **api:** `one` is gone\n  - detail\n* two\n\n## Features\n\n- three";
    expect(findBreakingChanges(notes)).toEqual([
      { line: 3, text: "api: one is gone" },
      { line: 5, text: "two" },
    ]);
  });

  test("names the first sentence where no entries follow, else the heading", () => {
    expect(texts("### ⚠ BREAKING CHANGES\n\nThe port is 80 now.\n\n### Fixes\n- x")).toEqual(["The port is 80 now."]);
    expect(texts("## Breaking changes\n\nThese:\n\n1. one\n2. two\n\nMore about two.")).toEqual(["one", "two"]);
    expect(texts("**Breaking changes:**\n\n**Fixes**\n- x")).toEqual(["Breaking changes:"]);
  });

  test("shows what people read, bounded", () => {
    expect(texts(`- feat!: [link](https://x.test) ${"a".repeat(1_000)}`)[0]).toHaveLength(256);
    expect(texts("- breaking\n".repeat(1_000))).toHaveLength(50);
  });

  test.each([
    ["marks", "!:".repeat(500_000)],
    ["open brackets before marks", `${"(".repeat(100_000)})!:`.repeat(5)],
    ["brackets and marks", ")!:".repeat(300_000)],
    ["denials", "no breaking ".repeat(80_000)],
    ["lines", "no\n".repeat(300_000)],
    ["titles of lists", "* BREAK\n  * x\n".repeat(100_000)],
    ["indentation", `${" ".repeat(1_000)}- x\n`.repeat(500)],
  ])("reads many %s", (_, notes) => expect(texts(notes)).toEqual([]));
});
