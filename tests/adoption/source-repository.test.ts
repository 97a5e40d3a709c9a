import { describe, expect, test } from "bun:test";
import { linePattern, repositoryIn } from "../../src/adoption/source-repository.ts";

describe("repositoryIn()", () => {
  test.each([
    ["https://github.com/acme/app", "github", "https://github.com/acme/app"],
    ["https://github.com/acme/app.git", "github", "https://github.com/acme/app"],
    ["https://www.github.com/acme/app/tree/main/docker", "github", "https://github.com/acme/app"],
    ["http://GitHub.com/acme/app/", "github", "https://github.com/acme/app"],
    ["https://gitlab.com/group/sub/app/-/tree/main", "gitlab", "https://gitlab.com/group/sub/app"],
    ["https://codeberg.org/forgejo/forgejo", "gitea", "https://codeberg.org/forgejo/forgejo"],
  ] as const)("reads %s", (label, kind, url) => {
    expect(repositoryIn(label)).toMatchObject({ kind, url });
  });

  test.each([
    undefined,
    "",
    "github.com/acme/app",
    "https://github.com/acme",
    "https://github.com/acme/..",
    "https://github.com.evil.example/acme/app",
    "https://user:secret@github.com/acme/app",
    "https://github.com:8443/acme/app",
    "https://127.0.0.1/acme/app",
    "https://git.internal/acme/app",
    "javascript:alert(1)//github.com/a/b",
    `https://github.com/acme/${"a".repeat(600)}`,
    "https://github.com/acme/<script>",
  ])("takes nothing from %p", (label) => {
    expect(repositoryIn(label)).toBeNull();
  });
});

describe("linePattern()", () => {
  test.each([
    ["16", "v16.1", true],
    ["16", "REL_16_1", true],
    ["16", "release-16.4", true],
    ["16", "16", true],
    ["16", "v1.16.2", false],
    ["16", "v116.2", false],
    ["16", "v17.0", false],
    ["11.4", "v11.4.2", true],
    ["11.4", "mariadb-11.40.1", false],
  ])("line %s and tag %s: %p", (line, tag, matches) => {
    expect(new RegExp(linePattern(line)).test(tag)).toBe(matches);
  });

  test("is blank without a line of numbers", () => {
    expect([linePattern(null), linePattern("stable"), linePattern("1)(")]).toEqual(["", "", ""]);
  });
});
