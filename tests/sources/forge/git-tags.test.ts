import { describe, expect, test } from "bun:test";
import { listGitTags } from "../../../src/sources/forge/git-tags.ts";
import type { Listing, ListRequest } from "../../../src/sources/source.ts";

const listed = async (names: readonly string[], changes: Partial<ListRequest> = {}): Promise<Listing> => {
  const request = { limit: 3, accepts: [() => true], known: new Map(), watch: [], memo: null, ...changes };
  const commits = new Map(names.map((name) => [name, "c".repeat(40)]));
  return await listGitTags(request, commits, (tag) => `https://forge.example/${tag}`);
};
const appearedIn = ({ releases }: Listing) => releases.map(({ tag, appeared }) => [tag, appeared]);

describe("listGitTags()", () => {
  test("a list that came short is no news when it is whole again", async () => {
    const whole = await listed(["v2", "v1"]);
    const short = await listed(["v2"], { memo: whole.memo });
    expect(appearedIn(await listed(["v2", "v1"], { memo: short.memo }))).toEqual([
      ["v2", false],
      ["v1", false],
    ]);
  });

  test.each([
    ["GitHub", "github-tags-1 v1"],
    ["Gitea", JSON.stringify({ form: "gitea-tags-1", names: ["v1"] })],
  ])("reads the memory that an earlier version wrote for %s", async (_forge, memo) => {
    expect(appearedIn(await listed(["v2", "v1"], { memo }))).toEqual([
      ["v2", true],
      ["v1", false],
    ]);
  });

  test("believes no memory of another form", async () => {
    const listing = await listed(["v1"], { memo: '{"form":"git-tags-1"}' });
    expect(appearedIn(listing)).toEqual([["v1", undefined]]);
  });
});
