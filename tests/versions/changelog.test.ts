import { describe, expect, test } from "bun:test";
import {
  ChangelogError,
  formatOfPath,
  maxChangelogCharacters,
  openChangelog,
  type SectionRequest,
} from "../../src/versions/changelog.ts";

type Options = Partial<SectionRequest> & { format?: "markdown" | "rst" };

function extract(text: string, tag: string, options: Options = {}): string {
  const version = options.version ?? tag;
  const { format, ...wanted } = options;
  const request: SectionRequest = { tag, version, mode: "section", heading_template: "", subheading: "", ...wanted };
  return openChangelog(text, format).extract(request);
}

function errorOf(text: string, tag: string, options: Options = {}): string {
  try {
    extract(text, tag, options);
    return "found";
  } catch (error) {
    if (error instanceof ChangelogError) return error.said.code.slice(error.said.code.indexOf(".") + 1);
    throw error;
  }
}

/** A changelog whose wanted heading stands between two others of its kind. */
function around(heading: string): string {
  const marked = heading.startsWith("#") ? heading.slice(0, heading.search(/[ \t]/)) : "##";
  const level = heading.includes("===") ? "#" : marked;
  return `# Changelog\n\n${level} 9.9.9\n\nnewer\n\n${heading}\n\nwanted\n\n${level} 0.0.1\n\nolder\n`;
}

describe("extract() knows the heading", () => {
  test.each([
    // keepachangelog.com
    ["## [1.2.3] - 2024-01-31"],
    ["## [1.2.3]"],
    ["## [v1.2.3] - 2024-01-31"],
    ["## [1.2.3] - 2024-01-31 [YANKED]"],
    ["## [1.2.3] – 2024-01-31"],
    ["## [1.2.3] — 2024-01-31"],
    ["## [1.2.3] (2024-01-31)"],
    ["## [1.2.3][] - 2024-01-31"],
    ["## [1.2.3][1.2.3-link] - 2024-01-31"],
    // conventional-changelog, release-please, semantic-release
    ["## [1.2.3](https://example.org/o/r/compare/v1.2.2...v1.2.3) (2024-01-31)"],
    ["# [1.2.3](https://example.org/o/r/compare/v1.2.2...v1.2.3) (2024-01-31)"],
    ["### [1.2.3](https://example.org/o/r/compare/v1.2.2...v1.2.3) (2024-01-31)"],
    ["## 1.2.3 (2024-01-31)"],
    ["### 1.2.3 (2024-01-31)"],
    ["## <small>1.2.3 (2024-01-31)</small>"],
    ['<a name="1.2.3"></a>\n## [1.2.3](https://example.org/compare/1.2.2...1.2.3) (2024-01-31)'],
    ['## <a name="v1.2.3"></a> v1.2.3'],
    // plain
    ["# v1.2.3"],
    ["# V1.2.3"],
    ["# 1.2.3"],
    ["## 1.2.3"],
    ["###### 1.2.3"],
    ["   ## 1.2.3"],
    ["## 1.2.3 ##"],
    ["##\t1.2.3"],
    ["## Version 1.2.3"],
    ["## version 1.2.3"],
    ["## Version v1.2.3"],
    ["## Version: 1.2.3"],
    ["## Release 1.2.3"],
    ["## Release v1.2.3"],
    ["## Release Notes 1.2.3"],
    ["## Release notes for 1.2.3"],
    ["## Changes in 1.2.3"],
    ["## Changes in version 1.2.3"],
    ["## What's new in 1.2.3"],
    ["## ver. 1.2.3"],
    ["## release/1.2.3"],
    ["## release-1.2.3"],
    ["## version/1.2.3"],
    // a name behind it
    ["## 1.2.3: The quiet one"],
    ["## 1.2.3 : The quiet one"],
    ['## 1.2.3 "The quiet one"'],
    ["## v1.2.3 - The quiet one"],
    ["## 1.2.3 – The quiet one"],
    ["## 1.2.3 — The quiet one"],
    ["## 1.2.3 | The quiet one"],
    ["## 1.2.3 The quiet one"],
    ["## Version 1.2.3: beta testers asked for this"],
    // dates
    ["## 1.2.3 - 2024-01-31"],
    ["## 1.2.3 – 2024-01-31"],
    ["## 1.2.3 — 2024-01-31"],
    ["## 1.2.3–2024-01-31"],
    ["## 1.2.3 / 2024-01-31"],
    ["## 1.2.3, 2024-01-31"],
    ["## 1.2.3 2024-01-31"],
    ["## 1.2.3 [2024-01-31]"],
    ["## 1.2.3 @ 2024-01-31"],
    ["## 1.2.3-2024-01-31"],
    ["## 1.2.3 (31.01.2024)"],
    ["## 1.2.3 - 31/01/2024"],
    ["## 1.2.3 - January 31, 2024"],
    ["## 1.2.3 (January 31st, 2024)"],
    ["## 1.2.3 - 31 Jan 2024"],
    ["## 1.2.3 (Unreleased)"],
    ["## 1.2.3 - Unreleased"],
    ["## 1.2.3 (LTS)"],
    ["## 1.2.3 released"],
    ["## 2024-01-31, Version 1.2.3 (Current), @somebody"],
    ["## 2024-01-31 - 1.2.3"],
    ["## 2024-01-31 v1.2.3"],
    // marks
    ["## **1.2.3**"],
    ["## __1.2.3__"],
    ["## *1.2.3*"],
    ["## `1.2.3`"],
    ["## ~~1.2.3~~"],
    ["## **[1.2.3](https://example.org)** - *2024-01-31*"],
    ["## [`v1.2.3`](https://example.org)"],
    ["## [**1.2.3**]"],
    ["## 🚀 v1.2.3"],
    ["## 🎉 [1.2.3] 🎉"],
    ["## :tada: 1.2.3"],
    ["## 1\\.2\\.3"],
    ["## \\[1.2.3\\]"],
    ["## 1.2.3 {#v1-2-3}"],
    ["## 1.2.3&nbsp;&mdash;&nbsp;2024-01-31"],
    ["## ![new](https://example.org/badge.svg) 1.2.3"],
    ["## 1.2.3 ![2024](https://example.org/badge.svg)"],
    ["## ✨1.2.3"],
    // setext
    ["1.2.3\n====="],
    ["1.2.3\n-----"],
    ["v1.2.3\n---"],
    ["1.2.3 / 2024-01-31\n=================="],
    ["1.2.3 (2024-01-31)\n------------------"],
    ["[1.2.3](https://example.org) - 2024-01-31\n---"],
    ["**Version 1.2.3**\n---"],
    ["1.2.3\n2024-01-31\n----------"],
    ["1.2.3\n-----   "],
    ["  1.2.3\n  ====="],
    ["=====\n1.2.3\n====="],
  ])("%s", (heading) => {
    expect(extract(around(heading), "v1.2.3", { version: "1.2.3" })).toBe("wanted");
  });

  test.each([
    ["name-1.2.3", "## name-1.2.3"],
    ["name-1.2.3", "## name@1.2.3"],
    ["name-v1.2.3", "## name/v1.2.3 (2024-01-31)"],
    ["name-1.2.3", "## 1.2.3"],
    ["@scope/name@1.2.3", "## @scope/name@1.2.3"],
    ["v1.2.3", "## name-1.2.3"],
    ["v1.2.3", "## @scope/name@1.2.3"],
    ["1.2.3-rc.1", "## 1.2.3-rc.1"],
    ["v1.2.3-rc.1", "## 1.2.3 RC 1"],
    ["v1.2.3-rc1", "## 1.2.3-rc.1 (2024-01-31)"],
    ["1.2.3rc1", "## 1.2.3 (RC1)"],
    ["1.2.3-rc.2", "## 1.2.3 Release Candidate 2"],
    ["1.2.3-beta.2", "## 1.2.3 - Beta 2"],
    ["1.2.3-beta", "## 1.2.3 (beta)"],
    ["v1.28.3+k3s1", "## v1.28.3+k3s1"],
    ["10.9.0", "## Jellyfin 10.9.0"],
    ["v2.11.0", "## My Great Tool v2.11.0 (2024-01-31)"],
    ["2024.6.1", "## 2024.6.1"],
    ["2024.06.1", "## 2024.6.1"],
    ["2024-06-04", "## 2024-06-04"],
    ["RELEASE.2024-06-04T19-20-08Z", "## RELEASE.2024-06-04T19-20-08Z"],
    ["17", "## 17"],
    ["17", "## Version 17"],
    ["1.2", "## 1.2"],
    ["1.2.3.4", "## 1.2.3.4"],
    ["REL_16_2", "## REL_16_2"],
    ["1.2.3-alpine", "## 1.2.3"],
    ["nightly", "## Nightly"],
  ])("of %s in %s", (tag, heading) => {
    const level = "##";
    const text = `# Changelog\n\n${level} Words\n\nnewer\n\n${heading}\n\nwanted\n\n${level} More words\n\nolder\n`;
    expect(extract(text, tag)).toBe("wanted");
  });
});

describe("extract() takes no other version's section", () => {
  test.each([
    ["1.2.3", "## 1.2.30"],
    ["1.2.3", "## 11.2.3"],
    ["1.2.3", "## 1.2.3.4"],
    ["1.2.3", "## 0.1.2.3"],
    ["1.2.3", "## 1.2"],
    ["1.2.3", "## 1"],
    ["1.2", "## 1.2.3"],
    ["1.2.0", "## 1.2"],
    ["1.2.3", "## 1.2.3-rc.1"],
    ["1.2.3", "## 1.2.3rc1"],
    ["1.2.3", "## 1.2.3 RC 1"],
    ["1.2.3", "## 1.2.3 (RC1)"],
    ["1.2.3", "## 1.2.3 beta"],
    ["1.2.3", "## 1.2.3 - Beta 2"],
    ["1.2.3", "## 1.2.3 Release Candidate 1"],
    ["1.2.3", "## [1.2.3-beta.1](https://example.org/compare/v1.2.2...v1.2.3)"],
    ["1.2.3", "## [1.2.4](https://example.org/compare/v1.2.3...v1.2.4)"],
    ["1.2.3-rc.1", "## 1.2.3"],
    ["1.2.3-rc.1", "## 1.2.3-rc.10"],
    ["1.2.3-rc.1", "## 1.2.3-rc.2"],
    ["1.2.3-rc.1", "## 1.2.3-beta.1"],
    ["1.2.3", "## 1.2.3+build.5"],
    ["1.2.3", "## 1.2.3-alpine"],
    ["1.2.3", "## 1.2.3-patch1"],
    ["1.2.3", "## 1.2.x"],
    ["1.2.3", "## Upgrading from 1.2.3"],
    ["1.2.3", "## Upgrade from 1.2.3 to 1.3.0"],
    ["1.2.3", "## Changes since 1.2.3"],
    ["1.2.3", "## 1.2.3 to 1.3.0"],
    ["1.2.3", "## 1.2.3 → 1.3.0"],
    ["1.2.3", "## 1.2.3 - 1.3.0"],
    ["1.2.3", "## 1.2.3 – 1.3.0"],
    ["1.2.3", "## Requires Node 1.2.3"],
    ["1.2.3", "## other-1.2.30"],
    ["name-1.2.3", "## other-1.2.3"],
    ["2024.1", "## CVE-2024-1"],
    ["1.2.3", "##1.2.3"],
    ["1.2.3", "####### 1.2.3"],
    ["1.2.3", "    ## 1.2.3"],
    ["1.2.3", "\\## 1.2.3"],
    ["1.2.3", "> ## 1.2.3"],
    ["1.2.3", "- ## 1.2.3"],
    ["1.2.3", "- 1.2.3\n---"],
    ["1.2.3", "> 1.2.3\n---"],
    ["1.2.3", "    1.2.3\n---"],
    ["1.2.3", "1.2.3\n\n---"],
    ["1.2.3", "1.2.3"],
    ["1.2.3", "**1.2.3**"],
    ["1.2.3", "```\n## 1.2.3\n```"],
    ["1.2.3", "<!--\n## 1.2.3\n-->"],
    ["1.2.3", "<pre>\n## 1.2.3\n</pre>"],
  ])("%s is not in %p", (tag, heading) => {
    const text = `# Changelog\n\n## 9.9.9\n\nnewer\n\n${heading}\n\nnot this\n\n## 0.0.1\n\nolder\n`;
    expect(errorOf(text, tag)).toBe("no_section");
  });

  test("a heading with a foreign name counts only where no version stands without one", () => {
    expect(errorOf("## 2.0.0\n\n### PHP 8.1\n\nphp\n\n## 1.0.0\n\nold", "8.1")).toBe("no_section");
    expect(extract("# Tool 8.1\n\ntext\n\n# Tool 8.0\n\nold", "8.1")).toBe("text");
  });

  test.each([
    ["## Project 1.2.3", "v1.2.3"],
    ["## The Big Project v1.2.3", "1.2.3"],
    ["## What's new in 1.2.3?", "v1.2.3"],
    ["## What’s New in Project 1.2.3?", "1.2.3"],
    ["## What is new in 1.2.3!", "1.2.3"],
  ])("%s is found, among its like and among plain versions", (heading, tag) => {
    const others = (version: string) => heading.replace("1.2.3", version);
    expect(extract(`# Log\n\n${others("1.2.4")}\n\nnew\n\n${heading}\n\ntext\n\n${others("1.2.2")}\n\nold`, tag)).toBe(
      "text",
    );
    expect(extract(`# Log\n\n## [1.2.4]\n\nnew\n\n${heading}\n\ntext\n\n## 1.2.2\n\nold`, tag)).toBe("text");
  });

  test("a part's version is none of the project's, whatever stands above it", () => {
    expect(errorOf("## Tool 2.0.0\n\n### PHP 8.1\n\nphp\n\n## Tool 1.0.0\n\nold", "8.1")).toBe("no_section");
    expect(errorOf("## 2.0.0\n\n### Needs\n\n#### PHP 8.1\n\nphp\n\n## 1.0.0\n\nold", "8.1")).toBe("no_section");
  });

  const body = "## 1.2.3\n\ntext\n\n## 1.2.2\n\nold\n";
  test.each([
    ["of links below a heading", `## Contents\n\n### [1.2.3](#123)\n### [1.2.2](#122)\n\n${body}`],
    ["of plain headings", `## Contents\n### 1.2.3\n### 1.2.2\n\n${body}`],
    ["on the level of the sections", `## 1.2.3\n## 1.2.2\n\nAll notable changes.\n\n${body}`],
    ["above the sections' level", `# [1.2.3](#123)\n# [1.2.2](#122)\n\n${body}`],
    ["with text below each entry's link", `# [1.2.3](#123)\n2024\n# [1.2.2](#122)\n2023\n# Changes\n${body}`],
    ["behind the sections", `${body}\n## Contents\n### [1.2.3](#123)\n### [1.2.2](#122)\n`],
  ])("a table of contents %s does not hide the section", (_what, text) => {
    for (const heading_template of ["", "{version}", "# [{tag}]"]) {
      expect(extract(text, "1.2.3", { heading_template })).toBe("text");
      expect(extract(text, "1.2.2", { heading_template }).split("\n")[0]).toBe("old");
    }
  });

  test.each([
    ["# [{tag}]", "# v1.2.3", "v1.2.3"],
    ["# [{tag}]", "# v1.2.3", "1.2.3"],
    ["## [{version}]", "## 1.2.3", "v1.2.3"],
  ])("the template %s takes %s where no heading has its brackets", (heading_template, heading, tag) => {
    const plain = `${heading}\n\ntext\n\n${heading.replace(".3", ".30")}\n\nold\n`;
    expect(extract(plain, tag, { heading_template })).toBe("text");
    const bracketed = heading_template.replace(
      /\{.*\}/,
      tag.startsWith("v") && heading_template.includes("version") ? "1.2.3" : tag,
    );
    expect(extract(`${plain}\n${bracketed}\n\nlinked\n`, tag, { heading_template })).toBe("linked");
  });

  test("an empty section is said to be empty where no other is there", () => {
    expect(errorOf("## 1.2.4\n\n## 1.2.3\n\n## 1.2.2\n\nold", "1.2.3")).toBe("empty_section");
    expect(extract("## 1.2.4\n\n## 1.2.3\n\ntext\n", "1.2.3")).toBe("text");
  });

  test("the message names the version", () => {
    expect(() => extract("# Changelog\n", "1.2.3")).toThrow("The changelog has no section for 1.2.3");
  });
});

describe("extract() passes over what is no heading", () => {
  const fenced = (fence: string) => `## 1.2.3\n\nbefore\n\n${fence}\n\nafter\n\n## 1.2.2\n\nolder\n`;
  test.each([
    ["backticks", "```sh\n# 1.2.2\n```"],
    ["tildes", "~~~\n# 1.2.2\n~~~"],
    ["longer fences around shorter ones", "````md\n```\n# 1.2.2\n```\n````"],
    ["a longer closing", "```\n# 1.2.2\n`````"],
    ["a shorter run within", "`````\n```\n# 1.2.2\n`````"],
    ["the other kind within", "```\n~~~\n# 1.2.2\n```"],
    ["tildes with backticks in their words", "~~~ a`b`\n# 1.2.2\n~~~"],
    ["an indented fence", "   ```\n   # 1.2.2\n# 1.2.2\n   ```"],
    ["a fence in a list", "- item\n\n  ```sh\n  # 1.2.2\n  ```"],
    ["a fence deep in a list", "1. item\n\n    ```sh\n    # 1.2.2\n    ```"],
    ["a fence with words behind its closing run", "```\n# 1.2.2\n``` no\n# 1.2.2\n```"],
    ["a closing too far in", "```\n# 1.2.2\n    ```\n# 1.2.2\n```"],
    ["indented code", "    # 1.2.2"],
    ["a tab before it", "\t# 1.2.2"],
    ["a comment", "<!-- one\n# 1.2.2\n-->"],
    ["a comment on one line", "<!-- # 1.2.2 -->"],
    ["preformatted text", "<pre>\n# 1.2.2\n</pre>"],
    ["a quote", "> # 1.2.2"],
    ["a hashtag", "#1.2.2"],
    ["an issue", "#122 is fixed"],
    ["an escaped hash", "\\# 1.2.2"],
    ["a rule", "text\n\n---\n\nmore"],
    ["a rule of stars", "***"],
    ["a rule behind a list", "- item\n---"],
    ["a table", "a | b\n--- | ---\n1 | 2"],
    ["a line within a paragraph", "text `# 1.2.2` text"],
  ])("%s", (_, part) => {
    expect(extract(fenced(part), "1.2.3")).toBe(`before\n\n${part}\n\nafter`);
  });

  test("inline code with three backticks opens no fence", () => {
    expect(extract("## 1.2.3\n\n```code``` here\n\n## 1.2.2\n\nold", "1.2.3")).toBe("```code``` here");
  });

  test("a fence that is never closed hides the sections behind it", () => {
    expect(errorOf("## 1.2.3\n\n```\nopen\n\n## 1.2.2\n\nold", "1.2.2")).toBe("no_section");
  });

  test("what looks like a fence in indented code hides nothing", () => {
    expect(extract("## 1.2.3\n\n    ```\n\ntext\n\n## 1.2.2\n\nold", "1.2.2")).toBe("old");
  });
});

describe("extract() ends the section", () => {
  test.each([
    ["at a heading of its level", "## 1.2.3\na\n## 1.2.2\nb", "a"],
    ["at a higher heading", "## 1.2.3\na\n# Older\nb", "a"],
    ["not at a lower heading", "## 1.2.3\na\n### Fixed\nb\n#### More\nc\n## 1.2.2\nd", "a\n### Fixed\nb\n#### More\nc"],
    ["at a heading without a version", "## 1.2.3\na\n## Thanks\nb", "a"],
    ["at the end of the file", "## 1.2.2\nb\n## 1.2.3\na", "a"],
    ["at a setext heading", "1.2.3\n-----\na\n\n1.2.2\n-----\nb", "a"],
    ["at an underlined heading below a marked one", "## 1.2.3\na\n\nOlder\n=====\nb", "a"],
    ["before the first line of a paragraph that is a heading", "## 1.2.3\na\n\n1.2.2\n2024\n----\nb", "a"],
    ["where patches are a level deeper", "# [1.3.0](l) (2024-02-01)\na\n## [1.2.9](l) (2024-01-01)\nb", "a", "1.3.0"],
    ["not at parts of a series", "# 1.2\n## 1.2.1 (2024-01-01)\na\n# 1.1\nb", "## 1.2.1 (2024-01-01)\na", "1.2"],
    [
      "not at other versions that a subheading names",
      "## 1.2.3\n### 8.0 is supported\na\n## 1.2.2\nb",
      "### 8.0 is supported\na",
    ],
    ["with Windows line ends", "## 1.2.3\r\na\r\nb\r\n## 1.2.2\r\nc", "a\nb"],
    ["with old Macintosh line ends", "## 1.2.3\ra\r## 1.2.2\rc", "a"],
    ["behind a byte order mark", "\uFEFF## 1.2.3\na", "a"],
    ["without blank lines around it", "## 1.2.3\n\n \n  a\n\n\n## 1.2.2", "  a"],
  ] as readonly (readonly [string, string, string, string?])[])("%s", (...[, text, expected, tag]) => {
    expect(extract(text, tag ?? "1.2.3")).toBe(expected);
  });

  test("of two sections of one version it takes the first", () => {
    expect(extract("## 1.2.3\nfirst\n## 1.2.2\nb\n## 1.2.3\nsecond", "1.2.3")).toBe("first");
  });

  test("it takes the section of the tag's own name before others", () => {
    const text = "## other-1.2.3\na\n## name-1.2.3\nb\n## name-1.2.2\nc";
    expect(extract(text, "name-1.2.3")).toBe("b");
  });

  test("it prefers a heading that is the version to one that goes on", () => {
    expect(extract("## 2.0.0\n### 1.2.3 compatibility\na\n## 1.2.3\nb", "1.2.3")).toBe("b");
  });

  test.each([
    ["nothing in it", "## 1.2.3\n\n## 1.2.2\n\nold"],
    ["blanks in it", "## 1.2.3\n  \n\t\n## 1.2.2\n\nold"],
    ["the end of the file behind it", "## 1.2.3"],
  ])("a section with %s is an error", (_, text) => {
    expect(errorOf(text, "1.2.3")).toBe("empty_section");
  });
});

describe("extract() by a heading template", () => {
  test.each([
    ["## [{version}]", "## [1.2.3] - 2024", "v1.2.3"],
    ["## \\[{version}\\]", "## [1.2.3] - 2024", "v1.2.3"],
    ["## {version}", "## 1.2.3", "v1.2.3"],
    ["# {tag}", "# v1.2.3", "v1.2.3"],
    ["# v{version}", "# v1.2.3", "1.2.3"],
    ["^## Version {version}$", "## Version 1.2.3", "v1.2.3"],
    ["^Tool {version} ", "## Tool 1.2.3 is here", "v1.2.3"],
    ["{version}", "## Something odd 1.2.3", "v1.2.3"],
    ["(?i)^## RELEASE {version}", "## release 1.2.3", "v1.2.3"],
    ["## .* {version}", "## from here to 1.2.3", "v1.2.3"],
    ["## {tag}", "## web/v1.2.3", "web/v1.2.3"],
    ["## \\({version}\\)", "## (1.2.3)", "1.2.3"],
    ["## [v{version}]", "## [v1.2.3](link)", "1.2.3"],
    ["{version}", "1.2.3 and more\n----", "1.2.3"],
  ])("%s finds %s", (template, heading, tag) => {
    const text = `# Changelog\n\n## 1.2\n\nnewer\n\n${heading}\n\nwanted\n\n# 0.1\n\nolder\n`;
    expect(extract(text, tag, { version: tag, heading_template: template })).toBe("wanted");
  });

  test.each([
    ["{version}", "## 1.2.30"],
    ["{version}", "## 1.2.3-rc.1"],
    ["{version}", "## 11.2.3"],
    ["{version}", "## 0.1.2.3"],
    ["{version}", "## 1x2x3"],
    ["## [{version}]", "## 1"],
    ["## [{version}]", "## 3"],
    ["## {tag}", "## 1.2.3"],
    ["^## {version}$", "## 1.2.3 - more"],
  ])("%s does not find %s", (template, heading) => {
    const text = `# Changelog\n\n${heading}\n\nnot this\n`;
    expect(errorOf(text, "v1.2.3", { version: "1.2.3", heading_template: template })).toBe("no_section");
  });

  test("values are no patterns", () => {
    expect(errorOf("## anything\n\ntext", ".*", { heading_template: "## {tag}" })).toBe("no_section");
    expect(extract("## a+b\n\ntext", "a+b", { heading_template: "## {tag}" })).toBe("text");
    expect(extract("## {tag}\n\ntext", "{tag}", { heading_template: "## {version}" })).toBe("text");
  });

  test("a template that makes no pattern for a version is an error", () => {
    const long = "1.".repeat(120);
    const template = "{version}{version}{version}{version}";
    expect(errorOf(`## ${long}\n\ntext`, long, { heading_template: template })).toBe("template_unusable");
  });
});

describe("extract() by mode", () => {
  const text = "## 1.2.3\nintro\n### 🐛 Fixed bugs\nfix\n#### Deep\nd\n### Other\nmore\n## 1.2.2\n### Added\nold";

  test("takes the whole file", () => {
    expect(extract("\n\n  Whatever\n# it is\n\n", "1.2.3", { mode: "entire_file" })).toBe("  Whatever\n# it is");
    expect(errorOf("\n \n", "1.2.3", { mode: "entire_file" })).toBe("empty");
  });

  test.each([["Fixed"], ["fixed bugs"], ["### Fixed"], ["🐛 Fixed"], ["**Fixed"]])(
    "starts at the subheading that begins with %p",
    (subheading) => {
      const expected = "### 🐛 Fixed bugs\nfix\n#### Deep\nd\n### Other\nmore";
      expect(extract(text, "1.2.3", { mode: "subheading", subheading })).toBe(expected);
    },
  );

  test.each([["Added"], ["bugs"], ["1.2.3"]])("has no subheading %p in the section", (subheading) => {
    expect(errorOf(text, "1.2.3", { mode: "subheading", subheading })).toBe("no_subheading");
  });
});

describe("extract() of reStructuredText", () => {
  const text = [
    "=========",
    "Changelog",
    "=========",
    "",
    "1.2.3 (2024-01-31)",
    "------------------",
    "",
    "Features",
    "~~~~~~~~",
    "",
    "* one",
    "# no heading",
    "",
    "`1.2.2 <https://example.org>`_ (2024-01-01)",
    "-------------------------------------------",
    "",
    "old",
    "",
  ].join("\n");

  test("knows underlines of any punctuation", () => {
    const expected = "Features\n~~~~~~~~\n\n* one\n# no heading";
    expect(extract(text, "1.2.3", { format: "rst" })).toBe(expected);
    expect(extract(text, "1.2.2", { format: "rst" })).toBe("old");
    expect(extract(text, "1.2.3", { format: "rst", mode: "subheading", subheading: "Feat" })).toBe(expected);
  });

  test("formatOfPath() says what a file is written in", () => {
    expect(["CHANGES.rst", "docs/NEWS.RST", "CHANGELOG.md", "NEWS"].map(formatOfPath)).toEqual([
      "rst",
      "rst",
      "markdown",
      "markdown",
    ]);
  });
});

describe("extract() of hostile input", () => {
  const sections = (count: number, line: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => line(n)).join("\n");

  test.each([
    ["200,000 headings", `${sections(200_000, (n) => `## 2.0.${n}`)}\n## 1.2.3\nwanted`],
    ["200,000 paragraph lines", `${sections(200_000, () => "text")}\n\n## 1.2.3\nwanted`],
    ["a line of 1 MB", `${"x".repeat(1_000_000)}\n\n## 1.2.3\nwanted`],
    ["a heading of 1 MB", `## ${"[".repeat(1_000_000)}\n\n## 1.2.3\nwanted`],
    ["200,000 underlines", `${"a\n-\n".repeat(200_000)}\n## 1.2.3\nwanted`],
    ["a million backticks", `${"`".repeat(1_000_000)} \`\n\n## 1.2.3\nwanted`],
    ["200,000 fences", `${"```\n".repeat(200_000)}\n## 1.2.3\nwanted`],
    ["unclosed links", `${"## [[[](\n\n".repeat(400)}\n## 1.2.3\nwanted`],
  ])("finds the section behind %s", (_, text) => {
    expect(extract(text, "1.2.3")).toBe("wanted");
  });

  test("looks at few of the headings that only name the version", () => {
    const text = sections(100_000, () => "## from 1.2.3 (a(a(a(a");
    expect(errorOf(text, "1.2.3")).toBe("no_section");
    expect(errorOf(text, "1.2.3", { heading_template: "^(.*)*x{version}(a|aa)+$" })).toBe("no_section");
  });

  test("refuses larger files", () => {
    expect(() => openChangelog("a".repeat(maxChangelogCharacters + 1))).toThrow("at most 4 MiB are read");
  });
});
