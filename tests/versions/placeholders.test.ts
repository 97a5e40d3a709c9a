import { describe, expect, test } from "bun:test";
import { parsePattern } from "../../src/versions/pattern.ts";
import {
  checkHeadingTemplate,
  checkPathTemplate,
  fillPath,
  headingPattern,
  plainVersionOf,
  TemplateError,
} from "../../src/versions/placeholders.ts";

function refusal(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

describe("checkPathTemplate()", () => {
  test.each([
    ["CHANGELOG.md"],
    ["docs/{major}.{minor}/CHANGELOG-{version}.md"],
    ["{tag}"],
    [".github/notes/{patch}.md"],
    ["a..b/{tag}.md"],
    ["docs/Änderungen.md"],
  ])("takes %p", (template) => expect(refusal(() => checkPathTemplate(template))).toBeNull());

  test.each([
    ["{name}.md", '"{name}" is not a placeholder; use {tag}, {version}, {major}, {minor}, {patch}'],
    ["{Tag}.md", '"{Tag}" is not a placeholder; use {tag}, {version}, {major}, {minor}, {patch}'],
    ["{}.md", '"{}" is not a placeholder; use {tag}, {version}, {major}, {minor}, {patch}'],
    ["{tag.md", "Close each { with }"],
    ["tag}.md", "Close each { with }"],
    ["{{tag}}.md", "Close each { with }"],
    ["../secrets", 'Remove ".." and "." from the path'],
    ["docs/../../x", 'Remove ".." and "." from the path'],
    ["docs/..", 'Remove ".." and "." from the path'],
    ["./x", 'Remove ".." and "." from the path'],
    ["/etc/passwd", "Enter the path from the root of the repository, without / at its start"],
    ["c:/x", "Enter the path from the root of the repository, without / at its start"],
    ["docs\\x", "Separate folders with /"],
    ["docs//x", "Enter a file, without an empty folder name"],
    ["docs/", "Enter a file, without an empty folder name"],
    ["a\u0000b", "Control characters are not allowed"],
    ["a\nb", "Control characters are not allowed"],
  ])("refuses %p", (template, message) => expect(refusal(() => checkPathTemplate(template))).toBe(message));
});

describe("fillPath()", () => {
  test.each([
    ["CHANGELOG.md", "v1.2.3", "CHANGELOG.md"],
    ["notes/{tag}.md", "v1.2.3", "notes/v1.2.3.md"],
    ["notes/{version}.md", "v1.2.3", "notes/1.2.3.md"],
    ["{major}/{minor}/{patch}.md", "v1.2.3-rc.1", "1/2/3.md"],
    ["{major}.{minor}.{minor}", "release/2024.6.1", "2024.6.6"],
    ["{tag}.md", "web/1.2.3", "web/1.2.3.md"],
    ["{version}.md", "web-1.2.3", "1.2.3.md"],
    ["{tag}", "$&", "$&"],
    ["{tag}", "{version}", "{version}"],
  ])("%s for %s is %s", (template, tag, path) => expect(fillPath(template, { tag, version: tag })).toBe(path));

  test.each([
    ["{tag}", ".."],
    ["notes/{tag}", "../../x"],
    ["notes/{tag}", "/etc"],
    ["{tag}", "/etc/passwd"],
    ["{tag}.md", "a\\b"],
    ["{tag}/x", ""],
    ["{minor}.md", "17"],
    ["{patch}.md", "1.2"],
    ["{major}.md", "latest"],
  ])("%s for %p is refused", (template, tag) => {
    expect(refusal(() => fillPath(template, { tag, version: tag }))).not.toBeNull();
  });
});

describe("checkHeadingTemplate()", () => {
  test.each([["## {version}"], ["^# {tag}$"], ["\\d{2} {version}"], ["x{1,3}{tag}"]])("takes %p", (template) => {
    expect(refusal(() => checkHeadingTemplate(template))).toBeNull();
  });

  test.each([["## Notes"], ["{name} {version}"], ["{major}"]])("refuses %p", (template) => {
    expect(refusal(() => checkHeadingTemplate(template))).not.toBeNull();
  });
});

describe("headingPattern()", () => {
  test.each([
    ["## {version}", "## 1\\.2\\.3"],
    ["## [{version}]", "## \\[1\\.2\\.3\\]"],
    ["## \\[{version}\\]", "## \\[1\\.2\\.3\\]"],
    ["## [v{version}]", "## \\[v1\\.2\\.3\\]"],
    ["\\({tag}\\)", "\\(v1\\.2\\.3\\)"],
    ["[a-z]+{tag}", "[a-z]+v1\\.2\\.3"],
  ])("of %s is %s", (template, pattern) => {
    expect(headingPattern(template, { tag: "v1.2.3", version: "1.2.3" }, "exact")).toBe(pattern);
  });

  test.each([
    ["# [{tag}]", "# (?:\\[?v1\\.2\\.3\\]?)"],
    ["{version}+", "(?:\\[?[vV]?1\\.2\\.3\\]?)+"],
    ["^v{version}", "^(?:\\[?v1\\.2\\.3\\]?)"],
  ])("of %s, loosely, is %s", (template, pattern) => {
    expect(headingPattern(template, { tag: "v1.2.3", version: "1.2.3" }, "loose")).toBe(pattern);
  });

  test.each(["{tag}", "{version}"])("values of %s with every mark of patterns find themselves alone", (name) => {
    const tag = "\\^$.|?*+()[]{}-1.2.3";
    const { compiled } = parsePattern(headingPattern(`^${name}$`, { tag, version: tag }, "exact"));
    expect(compiled.matcher(tag).find()).toBe(true);
    expect(compiled.matcher("\\^$x|?*+()[]{}-1x2.3").find()).toBe(false);
  });
});

test.each([
  ["v1.2.3", "1.2.3"],
  ["release/1.2.3-rc.1", "1.2.3-rc.1"],
  ["name-1.2.3", "1.2.3"],
  ["latest", "latest"],
])("plainVersionOf() of %s is %s", (tag, version) => expect(plainVersionOf(tag)).toBe(version));
