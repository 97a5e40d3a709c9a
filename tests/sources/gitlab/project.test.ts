import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { gitlab } from "../../../src/sources/gitlab/gitlab.ts";
import { GitLabConfig } from "../../../src/sources/gitlab/schema.ts";

describe("the configuration of a project", () => {
  test.each<[project: string, instance_url: string, expected: [project: string, instance_url: string]]>([
    ["group/project", "", ["group/project", ""]],
    [" group/sub/deeper/project ", "", ["group/sub/deeper/project", ""]],
    ["/group/project/", "https://gitlab.com/", ["group/project", ""]],
    ["278964", "https://git.example/", ["278964", "https://git.example"]],
    ["group/project", "git.example:8443", ["group/project", "https://git.example:8443"]],
    ["group/project", "http://git.example", ["group/project", "http://git.example"]],
    ["group/project", "https://git.example/gitlab/api/v4/", ["group/project", "https://git.example/gitlab"]],
    ["https://gitlab.com/group/project", "", ["group/project", ""]],
    ["https://gitlab.com/group/sub/project/-/releases?sort=desc#top", "", ["group/sub/project", ""]],
    ["https://git.example/group/project.git", "", ["group/project", "https://git.example"]],
    [
      "https://git.example/gitlab/group/project/-/tags",
      "https://git.example/gitlab",
      ["group/project", "https://git.example/gitlab"],
    ],
    ["git@git.example:group/project.git", "", ["group/project", "https://git.example"]],
    ["ssh://git@git.example:2222/group/project.git", "", ["group/project", "https://git.example"]],
    ["gruppe/größe", "", ["gruppe/größe", ""]],
    ["https://gitlab.com/gruppe/gr%C3%B6%C3%9Fe", "", ["gruppe/größe", ""]],
  ])("%p on %p is stored as %p", (project, instance_url, [expected, instance]) => {
    const stored = v.parse(GitLabConfig, { project, instance_url });
    expect(stored).toEqual({ project: expected, instance_url: instance });
    expect(v.parse(GitLabConfig, stored)).toEqual(stored);
  });

  test.each([
    ["project", "", "project"],
    ["0", "", "project"],
    ["group//project", "", "project"],
    ["group/./project", "", "project"],
    ["group/..", "", "project"],
    ["group/pro ject", "", "project"],
    ["group/project?ref=x", "", "project"],
    ["group/-dash", "", "project"],
    ["https://user:pass@gitlab.com/group/project", "", "project"],
    ["https://gitlab.com/group%2F..%2Fproject", "", "project"],
    ["https://gitlab.com/%E0%A4%A/b", "", "project"],
    ["https://gitlab.com/group/project", "https://git.example", "project"],
    ["https://git.example/group/project", "https://git.example/gitlab", "project"],
    [`g/${"p".repeat(256)}`, "", "project"],
    ["group/project", "https://git.example?x=1", "instance_url"],
    ["group/project", "file:///etc/passwd", "instance_url"],
    ["group/project", "https://", "instance_url"],
    ["group/project", "https://user@git.example", "instance_url"],
  ])("%p on %p is refused at %p", (project, instance_url, field) => {
    const parsed = v.safeParse(GitLabConfig, { project, instance_url });
    expect(parsed.issues?.map((issue) => v.getDotPath(issue))).toEqual([field]);
    expect(parsed.issues?.[0].message).not.toContain(":pass@");
  });

  test("names the host of its API, with its port", () => {
    expect(gitlab.host({ project: "a/b", instance_url: "" })).toBe("gitlab.com");
    expect(gitlab.host({ project: "a/b", instance_url: "http://git.example:8080/gitlab" })).toBe("git.example:8080");
  });
});
