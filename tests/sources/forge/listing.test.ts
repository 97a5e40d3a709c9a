import { describe, expect, test } from "bun:test";
import { type ForgeList, type ForgePage, listIncrementally } from "../../../src/sources/forge/listing.ts";
import type { KnownRelease, Listing, ListRequest, UpstreamRelease } from "../../../src/sources/source.ts";

const pageSize = 10;
const minute = (number: number) => Date.UTC(2026, 0, 1) + number * 60_000;

function release(number: number, given: Partial<UpstreamRelease> = {}): UpstreamRelease {
  const tag = `v${number}`;
  const facts = { stage: "release", published_at: minute(number), revision: "c".repeat(40), url: null } as const;
  return { version: tag, tag, notes: null, ...facts, ...given };
}

/** A forge with `count` releases, the newest first. `pages` counts those that were read. */
function forgeOf(count: number, counts = true) {
  const releases = Array.from({ length: count }, (_, index) => release(count - index));
  let pages = 0;
  const read = async (at: number): Promise<ForgePage> => {
    pages += 1;
    const page = releases.slice(at, at + pageSize);
    const next = at + pageSize < releases.length ? () => read(at + pageSize) : null;
    return { releases: page, count: page.length, total: counts ? releases.length : null, next };
  };
  const list: ForgeList = { list: "releases", first: () => read(0) };
  return {
    releases,
    list,
    /** One check, with the number of pages that it read. */
    check: async (request: ListRequest) => {
      pages = 0;
      const listing = await listIncrementally(list, request);
      return { listing, pages };
    },
  };
}

const ask = (given: Partial<ListRequest> = {}): ListRequest => ({
  limit: 5,
  accepts: [() => true],
  known: new Map(),
  watch: [],
  memo: null,
  ...given,
});
const knownOf = ({ releases }: Listing) =>
  new Map<string, KnownRelease>(releases.map(({ tag, revision, published_at }) => [tag, { revision, published_at }]));
const appearedIn = ({ releases }: Listing) =>
  releases.filter(({ appeared }) => appeared === true).map(({ tag }) => tag);
const oneOf = (...tags: readonly string[]) => [(tag: string) => tags.includes(tag)];

describe("what an earlier check left", () => {
  test("is not read again after the caller has pruned it, until it wants something else", async () => {
    const { check } = forgeOf(40);
    const request = ask({ accepts: oneOf("v3"), rules: "one" });
    const first = await check(request);
    expect([first.listing.releases.length, first.pages]).toEqual([1, 4]);
    const second = await check({ ...request, memo: first.listing.memo });
    expect(second.pages).toBe(1);
    const third = await check({ ...request, rules: "two", memo: second.listing.memo });
    expect([third.listing.releases.map(({ tag }) => tag), third.pages, appearedIn(third.listing)]).toEqual([
      ["v3"],
      4,
      [],
    ]);
  });

  test("is read when it gets a place that it did not have", async () => {
    const { check, releases } = forgeOf(40);
    const accepts = [...oneOf("v35", "v2"), ...oneOf("v1")];
    const request = ask({ accepts, limit: 2 });
    const { listing } = await check(request);
    const known = knownOf(listing);
    known.delete("v2");
    releases.splice(5, 1);
    const { listing: second, pages } = await check({ ...request, known, memo: listing.memo });
    expect([second.releases.map(({ tag }) => tag), pages, appearedIn(second)]).toEqual([["v2", "v1"], 4, []]);
  });

  test.each([[true], [false]])("is no news when it was missing for a while (upstream counts: %p)", async (counts) => {
    const { check, releases } = forgeOf(15, counts);
    const { listing } = await check(ask({ accepts: oneOf("v15") }));
    const missing = releases.splice(2, 1);
    const { listing: short } = await check(ask({ accepts: oneOf("v15"), memo: listing.memo }));
    releases.splice(2, 0, ...missing, release(12.5));
    const { listing: whole } = await check(ask({ memo: short.memo }));
    expect(appearedIn(whole)).toEqual(["v12.5"]);
  });

  test.each([[true], [false]])(
    "still counts when an old release moves to the top (upstream counts: %p)",
    async (counts) => {
      const { check, releases } = forgeOf(40, counts);
      const { listing } = await check(ask({ accepts: oneOf("v20") }));
      releases.unshift(...releases.splice(39, 1));
      const { listing: moved, pages } = await check(ask({ accepts: oneOf("v20"), memo: listing.memo }));
      expect(pages).toBe(1);
      const { listing: wider } = await check(ask({ accepts: oneOf("v7"), memo: moved.memo }));
      expect(wider.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([["v7", false]]);
    },
  );

  test.each<[string, Partial<UpstreamRelease>]>([
    ["without times", { published_at: null }],
    ["of one time", { published_at: minute(0) }],
  ])("tells a new release from one further down by its place, among releases %s", async (_, given) => {
    const { check, releases } = forgeOf(40);
    releases.splice(0, 40, ...releases.map((each) => ({ ...each, ...given })));
    const { listing } = await check(ask());
    releases.unshift(release(41, given));
    const { listing: wider } = await check(ask({ accepts: oneOf("v41", "v7"), memo: listing.memo }));
    expect(wider.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["v41", true],
      ["v7", false],
    ]);
  });

  test("makes no news of releases without times further down", async () => {
    const { check, releases } = forgeOf(40);
    releases.splice(20, 20, ...releases.slice(20).map((each) => ({ ...each, published_at: null })));
    const { listing } = await check(ask());
    const { listing: wider } = await check(ask({ accepts: oneOf("v7"), memo: listing.memo }));
    expect(wider.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([["v7", false]]);
  });

  test("of bare tags says which releases are new", async () => {
    const { list, releases } = forgeOf(2);
    const tags = await listIncrementally({ ...list, list: "tags" }, ask());
    releases.unshift(release(3));
    const listing = await listIncrementally(list, ask({ memo: tags.memo }));
    expect(appearedIn(listing)).toEqual(["v3"]);
  });

  test("of releases keeps tags from standing in for them", async () => {
    const { list } = forgeOf(2);
    const { memo } = await listIncrementally(list, ask());
    const tags = await listIncrementally({ ...list, list: "tags" }, ask({ memo }));
    expect(tags).toEqual({ releases: [], total: 0, memo });
  });
});

test("a known release that no longer exists is requested by name once", async () => {
  const { list, releases } = forgeOf(40, false);
  const requested: string[] = [];
  const find = async (tag: string) => {
    requested.push(tag);
    return releases.find((one) => one.tag === tag) ?? null;
  };
  const commits = new Map(["v3", "v2", "v1", "v0"].map((tag) => [tag, "d".repeat(40)]));
  const forge: ForgeList = { ...list, commits: { list: async () => commits, find } };
  const { memo } = await listIncrementally(forge, ask({ accepts: oneOf("v1") }));
  releases.splice(38, 1);
  const known = new Map(["v3", "v2", "v0"].map((tag) => [tag, { revision: null, published_at: null }]));
  const request = ask({ accepts: oneOf("v40"), known, watch: ["v3"] });
  const second = await listIncrementally(forge, { ...request, memo });
  expect([requested.splice(0), second.releases.map(({ tag, revision }) => [tag, revision?.[0]])]).toEqual([
    ["v3", "v2", "v0"],
    [
      ["v40", "c"],
      ["v3", "d"],
    ],
  ]);
  await listIncrementally(forge, { ...request, memo: second.memo });
  expect(requested).toEqual(["v3"]);
});

test("a watched release beyond everything that is read is requested each time its tag moves", async () => {
  const { list, releases } = forgeOf(600);
  const commits = new Map([["v1", "1".repeat(40)]]);
  const find = async (tag: string) => releases.find((one) => one.tag === tag) ?? null;
  const forge: ForgeList = { ...list, commits: { list: async () => commits, find } };
  const request = ask({ accepts: [() => false, ...oneOf("v1")], watch: ["v1"] });
  let listing = await listIncrementally(forge, request);
  releases.splice(590, 1);
  releases.unshift(...Array.from({ length: 100 }, (_, index) => release(700 - index)));
  for (const digit of ["2", "3"]) {
    commits.set("v1", digit.repeat(40));
    listing = await listIncrementally(forge, { ...request, known: knownOf(listing), memo: listing.memo });
    expect(listing.releases.map(({ tag, revision }) => [tag, revision?.[0]])).toEqual([["v1", digit]]);
  }
});

test("a release that moves down a list without a count is still found by wider rules", async () => {
  const { check, releases } = forgeOf(40, false);
  const { listing } = await check(ask({ accepts: oneOf("v1") }));
  releases.push(...releases.splice(1, 1));
  const { listing: moved } = await check(ask({ accepts: oneOf("v1"), memo: listing.memo }));
  const { listing: wider } = await check(ask({ accepts: oneOf("v39"), memo: moved.memo }));
  expect(wider.releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([["v39", false]]);
});

describe("the memory of an earlier version", () => {
  const seen = Array.from({ length: 20 }, (_, index) => 40 - index);
  const times = seen.map((number) => [`v${number}`, "release", minute(number)]);
  const flags = seen.map((number) => [`v${number}`, "release", number > 35]);
  const gitea = { form: "gitea-releases-1", total: 40, limit: 5, oldest: minute(21), seen: flags };
  const words = seen.map((number) => `${number > 35 ? "R" : "r"}v${number}`).join(" ");

  test.each([
    ["GitHub", JSON.stringify({ form: "github-2", kind: "releases", page: 10, is_whole: false, seen: times })],
    ["Gitea", JSON.stringify({ ...gitea, is_whole: false, is_exhausted: false })],
    ["GitLab", `gitlab-list-1 part 40 ${words}`],
  ])("of %s announces what is new, and nothing that was there", async (_forge, memo) => {
    const { check, releases } = forgeOf(40);
    const known = new Map([36, 37, 38, 39, 40].map((number) => [`v${number}`, { revision: null, published_at: null }]));
    releases.unshift(release(41));
    const { listing, pages } = await check(ask({ known, memo }));
    expect([appearedIn(listing), pages]).toEqual([["v41"], 1]);
    // Wider rules read beyond everything that was remembered.
    const wide = ask({ known, memo, limit: 40, accepts: [() => true] });
    const { listing: all } = await check(wide);
    expect([all.releases.length, appearedIn(all)]).toEqual([40, ["v41"]]);
    const { pages: steady } = await check({ ...wide, known: knownOf(all), memo: all.memo });
    expect(steady).toBe(1);
  });

  test("of GitLab makes no news of what is left after everything in it was deleted", async () => {
    const { list } = forgeOf(20);
    const { releases } = await listIncrementally(list, ask({ memo: `gitlab-list-1 part 40 ${words}` }));
    expect(releases.map(({ tag, appeared }) => [tag, appeared])).toEqual(
      [20, 19, 18, 17, 16].map((number) => [`v${number}`, false]),
    );
  });

  test.each([
    [
      "GitHub",
      JSON.stringify({ form: "github-2", kind: "tags", page: 2, is_whole: true, seen: [["v1", "tag", null]] }),
    ],
    ["GitLab", "gitlab-list-1 whole 1 Tv1"],
  ])("of %s is understood for bare tags", async (_forge, memo) => {
    const { list } = forgeOf(2);
    const { releases } = await listIncrementally({ ...list, list: "tags" }, ask({ memo }));
    expect(releases.map(({ tag, appeared }) => [tag, appeared])).toEqual([
      ["v2", true],
      ["v1", false],
    ]);
  });
});
