import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { fromText } from "../../../src/messages/message.ts";
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
    ["https://git.example/owner/app?tab=1", ""],
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
    ["owner", "git.example", "repository", "no_repository"],
    ["owner/app/more", "git.example", "repository", "no_repository"],
    ["../app", "git.example", "repository", "no_repository"],
    ["owner/..", "git.example", "repository", "no_repository"],
    ["owner/app?x=1", "git.example", "repository", "no_repository"],
    ["owner/a pp", "git.example", "repository", "no_repository"],
    ["owner/ap\u0000p", "git.example", "repository", "no_repository"],
    ["owner\\app", "git.example", "repository", "no_repository"],
    ["https://git.example/owner", "", "repository", "no_address_of_repository"],
    ["https://git.example/owner/%2e%2e", "", "repository", "no_address_of_repository"],
    ["https://other.example/owner/app", "git.example", "repository", "on_another_instance"],
    ["https://user:pass@git.example/owner/app", "", "repository", "with_user"],
    ["owner/app", "", "instance_url", "instance_wanted"],
    ["owner/app", "ftp://git.example", "instance_url", "not_http"],
    ["owner/app", "https://git.example/?a=1", "instance_url", "with_query"],
    ["owner/app", "https://git.example/#a", "instance_url", "with_query"],
    ["owner/app", "https://user:pass@git.example", "instance_url", "with_user"],
    ["owner/app", "https://git .example", "instance_url", "no_address"],
  ])("refuses %p on %p at %s", (repository, instance_url, field, code) => {
    const { issues = [] } = v.safeParse(GiteaConfig, { repository, instance_url });
    expect(issues.map((issue) => v.getDotPath(issue))).toEqual([field]);
    expect(fromText(issues[0]?.message ?? "").code).toBe(`addresses.${code}`);
    expect(issues[0]?.message).not.toContain("user:pass");
  });
});
