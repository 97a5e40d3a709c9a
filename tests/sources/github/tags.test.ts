import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Listing, ListRequest, OpenSource } from "../../../src/sources/source.ts";
import { type GithubWorld, githubWorld, listRequest, type Mode, nextRequest, tagsOf } from "./github-world.ts";
import { addRelease, addTag, oid } from "./hub-content.ts";

let world: GithubWorld;

beforeEach(async () => {
  world = await githubWorld();
});
afterEach(async () => {
  const { violations } = world.hub;
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

/** A check with the release fallback on, as the tracker's own check does it. */
async function check(source: OpenSource, request: ListRequest): Promise<Listing> {
  const listing = await source.listReleases(request);
  if (listing.releases.length > 0 || listing.total > 0) return listing;
  return (await source.listTags?.(request)) ?? listing;
}

const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString();

describe.each<Mode>(["rest", "graphql"])("%s: tags without releases", (mode) => {
  test("stand in for releases, with the commit behind an annotated tag", async () => {
    const repository = world.repository("acme", "app");
    addTag(repository, "v1.0.0", day(1));
    const commit = addTag(repository, "v1.1.0", day(2), 2);
    const listing = await check(world.open("acme/app", mode), listRequest());
    const dated = mode === "graphql";
    expect(listing.releases).toEqual([
      {
        version: "v1.1.0",
        tag: "v1.1.0",
        stage: "tag",
        published_at: dated ? Date.parse(day(2)) : null,
        revision: commit,
        url: `${world.hub.url}/acme/app/releases/tag/v1.1.0`,
        notes: null,
      },
      {
        version: "v1.0.0",
        tag: "v1.0.0",
        stage: "tag",
        published_at: dated ? Date.parse(day(1)) : null,
        revision: oid("commit v1.0.0"),
        url: `${world.hub.url}/acme/app/releases/tag/v1.0.0`,
        notes: null,
      },
    ]);
  });

  test("are not read when there is one release", async () => {
    const repository = world.repository("acme", "app");
    addTag(repository, "v2.0.0", day(9));
    addRelease(repository, "v1.0.0", day(1));
    const listing = await check(world.open("acme/app", mode), listRequest());
    expect(tagsOf(listing)).toEqual(["v1.0.0"]);
  });

  test("are not read when all releases are refused by the channels", async () => {
    const repository = world.repository("acme", "app");
    addTag(repository, "v2.0.0", day(9));
    addRelease(repository, "v1.0.0", day(1));
    const listing = await check(world.open("acme/app", mode), listRequest({ accepts: [(tag) => tag === "v2.0.0"] }));
    expect([listing.releases, listing.total]).toEqual([[], 1]);
  });

  test("cost no more than releases in steady state", async () => {
    const repository = world.repository("acme", "app");
    for (let number = 1; number <= 30; number += 1) addTag(repository, `v1.${number}.0`, day(number));
    let request = listRequest();
    for (let warm = 0; warm < 2; warm += 1) {
      request = nextRequest(await check(world.open("acme/app", mode), request), request);
    }
    world.hub.take();
    const listing = await check(world.open("acme/app", mode), request);
    expect(world.hub.take().map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual(
      mode === "rest" ? ["rest 304", "git 200"] : ["graphql 200"],
    );
    expect([tagsOf(listing)[0], listing.releases.length, listing.memo]).toEqual(["v1.30.0", 10, request.memo]);
  });

  test("that appear are told from those that a wider pattern lets in", async () => {
    const repository = world.repository("acme", "app");
    for (let number = 1; number <= 5; number += 1) addTag(repository, `v1.${number}.0`, day(number));
    const request = listRequest({ accepts: [(tag) => tag !== "v1.5.0"] });
    const first = await check(world.open("acme/app", mode), request);
    addTag(repository, "v1.6.0", day(6));
    const wide = nextRequest(first, request, { accepts: [() => true] });
    const second = await check(world.open("acme/app", mode), wide);
    const appeared = new Map(second.releases.map((release) => [release.tag, release.appeared]));
    expect(["v1.6.0", "v1.5.0", "v1.4.0"].map((tag) => appeared.get(tag))).toEqual([true, false, undefined]);
  });

  test("that a filter refuses take no place in the depth", async () => {
    const repository = world.repository("acme", "app");
    for (let number = 1; number <= 300; number += 1) addTag(repository, `v0.${number}.0`, day(number));
    const request = listRequest({ limit: 100, accepts: [(tag) => /[02468]\.0$/.test(tag)] });
    const listing = await check(world.open("acme/app", mode), request);
    expect([listing.releases.length, tagsOf(listing)[0], tagsOf(listing)[99]]).toEqual([100, "v0.300.0", "v0.102.0"]);
  });

  test("give way to the first release", async () => {
    const repository = world.repository("acme", "app");
    addTag(repository, "v1.0.0", day(1));
    const request = listRequest();
    const first = await check(world.open("acme/app", mode), request);
    addRelease(repository, "v1.1.0", day(2));
    const second = await check(world.open("acme/app", mode), nextRequest(first, request));
    expect(second.releases.map(({ tag, stage }) => [tag, stage])).toEqual([["v1.1.0", "release"]]);
  });

  test("of a renamed repository are read at its new place, which is shown", async () => {
    addTag(world.repository("acme-group", "application", { former: ["acme/app"] }), "v1.0.0", day(1));
    const listing = await check(world.open("acme/app", mode), listRequest());
    expect([tagsOf(listing), listing.moved_to]).toEqual([["v1.0.0"], "acme-group/application"]);
  });

  test("and releases that are both missing are an empty list and no error", async () => {
    world.repository("acme", "empty");
    const listing = await check(world.open("acme/empty", mode), listRequest());
    expect([listing.releases, listing.total]).toEqual([[], 0]);
  });

  test("are all named by one request", async () => {
    const repository = world.repository("acme", "app", { is_private: true });
    for (let number = 1; number <= 3; number += 1) addTag(repository, `v1.${number}.0`, day(number));
    addTag(repository, "with,comma", day(1));
    const names = await world.open("acme/app", mode).listNames?.();
    expect(names?.toSorted()).toEqual(["v1.1.0", "v1.2.0", "v1.3.0", "with,comma"]);
    expect(world.hub.take()).toEqual(["git 200 POST /acme/app.git/git-upload-pack"]);
  });
});
