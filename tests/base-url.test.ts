import { describe, expect, test } from "bun:test";
import { parseBaseUrl, storedBaseUrl } from "../src/base-url.ts";

describe("parseBaseUrl()", () => {
  test.each([
    ["https://a.example/tide/", "https://a.example/tide"],
    ["https://a.example//", "https://a.example"],
    ["http://a.example:8080", "http://a.example:8080"],
    ["https://a.example:443/", "https://a.example"],
    ["HTTPS://Tide.Example/Sub", "https://tide.example/Sub"],
    ["http://[::1]:8080/a/b-c_d.e~f", "http://[::1]:8080/a/b-c_d.e~f"],
    ["https://tïde.example/x", "https://xn--tde-zma.example/x"],
    ["https://a.example/..a/b..", "https://a.example/..a/b.."],
  ])("gives %s as %s, which stays as it is", (text, url) => {
    expect(parseBaseUrl(text)).toEqual({ url });
    expect(parseBaseUrl(url)).toEqual({ url });
  });

  test.each([
    ["a;b"],
    ["a,b"],
    ["tïde"],
    ["t%C3%AFde"],
    ["a%2fb"],
    ["a b"],
    ["a\tb"],
    ["a\nb"],
    ["a\\b"],
    ["a@b"],
    ["a//b"],
    ["."],
    [".."],
    ["a/../b"],
    ["a/./b"],
    ["%2e%2e/b"],
    ["a/.."],
    ["a/../"],
    ["<script>"],
  ])("refuses the path /%s, and says which are right", (path) => {
    expect(parseBaseUrl(`https://a.example/${path}`)).toMatchObject({
      problem: { code: "settings.base_url_path", params: { text: `https://a.example/${path}` } },
    });
  });

  test.each([
    ["tidemark.example", "unusable"],
    ["", "unusable"],
    [`https://a.example/${"a".repeat(2048)}`, "unusable"],
    ["ftp://a.example", "scheme"],
    ["javascript:alert(1)", "scheme"],
    ["https://u:p@a.example", "surplus"],
    ["https://a.example?", "surplus"],
    ["https://a.example/?a=b", "surplus"],
    ["https://a.example/#", "surplus"],
    ["https:a.example", "path"],
    ["https:///a.example", "path"],
    ["https:\\\\a.example", "path"],
  ])("refuses %j: %s", (text, problem) => {
    expect(parseBaseUrl(text)).toMatchObject({ problem: { code: `settings.base_url_${problem}` } });
  });
});

test.each([
  ["https://a.example/tide", "https://a.example/tide"],
  ["HTTPS://Tide.Example/Sub", "https://tide.example/Sub"],
  ["https://a.example/a/../b", "https://a.example/b"],
  ["https://a.example/a;b", null],
  ["https://a.example/tïde", null],
  ["", null],
  [7, null],
  ["javascript:alert(1)", null],
])("storedBaseUrl() reads %j as %j", (stored, expected) => {
  expect(storedBaseUrl(stored)).toBe(expected);
});
