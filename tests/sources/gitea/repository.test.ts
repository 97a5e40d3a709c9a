import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { GiteaConfig } from "../../../src/sources/gitea/schema.ts";

describe("GiteaConfig", () => {
  const stored = { repository: "owner/app", instance_url: "https://git.example" };

  test.each([
    ["owner/app", "https://git.example"],
    [" owner/app ", "git.example"],
    ["/owner/app/", "https://git.example/"],
    ["owner/app.git", "https://git.example/api/v1"],
    ["https://git.example/owner/app", ""],
    ["https://git.example/owner/app", "https://git.example"],
    ["https://git.example/owner/app.git", ""],
    ["https://git.example/owner/app/releases/tag/v1.0.0", ""],
    ["https://git.example/owner/app/src/branch/main/docs#readme", ""],
    ["git@git.example:owner/app.git", ""],
    ["ssh://git@git.example:2222/owner/app.git", ""],
  ])("reads %p on %p", (repository, instance_url) => {
    expect(v.parse(GiteaConfig, { repository, instance_url })).toEqual(stored);
  });

  test.each([
    ["owner/app", "http://git.example:3000", "http://git.example:3000"],
    ["http://git.example:3000/owner/app", "", "http://git.example:3000"],
    ["owner/app", "https://git.example/forge/", "https://git.example/forge"],
    ["https://git.example/forge/owner/app/releases", "https://git.example/forge", "https://git.example/forge"],
  ])("keeps port, plain http and the path of %p on %p", (repository, instance_url, instance) => {
    expect(v.parse(GiteaConfig, { repository, instance_url })).toEqual({ ...stored, instance_url: instance });
  });

  test.each([
    ["owner", "git.example", "repository", '"owner" is no repository, write it as "owner/repo"'],
    ["owner/app/more", "git.example", "repository", "is no repository"],
    ["../app", "git.example", "repository", "is no repository"],
    ["owner/..", "git.example", "repository", "is no repository"],
    ["owner/app?x=1", "git.example", "repository", "is no repository"],
    ["owner/a pp", "git.example", "repository", "is no repository"],
    ["owner/ap\u0000p", "git.example", "repository", "is no repository"],
    ["owner\\app", "git.example", "repository", "is no repository"],
    ["https://git.example/owner/app?tab=1", "", "repository", 'cut it before "?"'],
    ["https://git.example/owner", "", "repository", "is not the address of a repository"],
    ["https://git.example/owner/%2e%2e", "", "repository", "is not the address of a repository"],
    ["https://other.example/owner/app", "git.example", "repository", 'is not on the instance "https://git.example"'],
    ["https://user:pass@git.example/owner/app", "", "repository", "store a credential instead"],
    ["owner/app", "", "instance_url", "Write the address of the Gitea or Forgejo"],
    ["owner/app", "ftp://git.example", "instance_url", "is no http or https address"],
    ["owner/app", "https://git.example/?a=1", "instance_url", 'cut it before "?" and "#"'],
    ["owner/app", "https://git.example/#a", "instance_url", 'cut it before "?" and "#"'],
    ["owner/app", "https://user:pass@git.example", "instance_url", "store a credential instead"],
    ["owner/app", "https://git .example", "instance_url", "is no address"],
  ])("refuses %p on %p at %s", (repository, instance_url, field, words) => {
    const { issues = [] } = v.safeParse(GiteaConfig, { repository, instance_url });
    expect(issues.map((issue) => v.getDotPath(issue))).toEqual([field]);
    expect(issues[0]?.message).toContain(words);
    expect(issues[0]?.message).not.toContain("user:pass");
  });
});
