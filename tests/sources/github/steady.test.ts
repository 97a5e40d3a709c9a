import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Listing, ListRequest, ReleaseStage } from "../../../src/sources/source.ts";
import { withinDepth } from "../../../src/trackers/checks/within-depth.ts";
import { type GithubWorld, githubWorld, listRequest, type Mode, nextRequest } from "./github-world.ts";
import { addRelease, addReleases } from "./hub-content.ts";

let world: GithubWorld;

beforeEach(async () => {
  world = await githubWorld();
});
afterEach(async () => {
  const { violations } = world.hub;
  await world[Symbol.asyncDispose]();
  expect(violations).toEqual([]);
});

const isStage = (wanted: ReleaseStage) => (_tag: string, stage: ReleaseStage) => stage === wanted;
const stable = isStage("release");
const early = isStage("prerelease");

describe.each<Mode>(["rest", "graphql"])("%s: what an unchanged repository costs", (mode) => {
  /** One check, of which the caller stores only what has a place within the depth. */
  const check = async (request: ListRequest): Promise<{ next: ListRequest; listing: Listing; requests: number }> => {
    world.hub.take();
    const listing = await world.open("acme/app", mode).listReleases(request);
    const { listing: kept } = withinDepth(listing, request);
    return { next: nextRequest(kept, request), listing: kept, requests: world.hub.take().length };
  };
  const steady = mode === "rest" ? 2 : 1;

  const rules: readonly [name: string, request: Partial<ListRequest>][] = [
    ["one channel", { limit: 10 }],
    ["a rare channel beside a busy one", { limit: 10, accepts: [stable, early] }],
    ["three groups that share ten places", { limit: 10, accepts: [stable, early, (tag) => tag.endsWith("7.0")] }],
    ["more places than are kept for each", { limit: 40, most_each: 20, accepts: [stable, early] }],
    ["a pattern that hardly anything meets", { limit: 10, accepts: [(tag) => tag === "v1.3.0"] }],
    ["a pattern that nothing meets", { limit: 10, accepts: [() => false] }],
    ["as many places as are kept", { limit: 20, most_each: 20 }],
    ["a depth of 100", { limit: 100, accepts: [stable, early] }],
  ];
  test.each(rules)("is the promised one for %s", async (_name, given) => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 320);
    for (const [index, release] of repository.releases.entries()) release.is_prerelease = index % 30 !== 0;
    let { next } = await check(listRequest(given));
    // The second check is the first one that reads the short page.
    next = (await check(next)).next;
    for (let turn = 0; turn < 3; turn += 1) {
      const checked = await check(next);
      expect(checked.requests).toBe(steady);
      next = checked.next;
    }
    addRelease(repository, "v2.0.0", "2027-01-01T00:00:00Z");
    const appeared = await check(next);
    expect(appeared.requests).toBe(steady);
    expect((await check(appeared.next)).requests).toBe(steady);
  });

  test("is the promised one while an executor runs an old release", async () => {
    addReleases(world.repository("acme", "app"), 320);
    const old = await check(listRequest({ limit: 100 }));
    let next: ListRequest = { ...old.next, limit: 12, most_each: 6, accepts: [stable, () => true] };
    for (let turn = 0; turn < 4; turn += 1) {
      const checked = await check({ ...next, watch: ["v1.319.0", "v1.230.0", "v1.225.0"] });
      if (turn > 0) expect(checked.requests).toBe(steady);
      next = checked.next;
    }
  });

  test("is the promised one again after releases that were never stored were deleted", async () => {
    const repository = world.repository("acme", "app");
    addReleases(repository, 200);
    const narrow = listRequest({ limit: 10, accepts: [(tag) => tag.endsWith("9.0")] });
    const first = await check(narrow);
    repository.releases = repository.releases.filter(({ tag }) => !tag.endsWith("8.0"));
    const widened = { ...first.next, accepts: [(tag: string) => tag.endsWith("8.0")] };
    const second = await check(widened);
    expect(second.listing.releases.filter(({ tag }) => tag.endsWith("8.0"))).toEqual([]);
    const third = await check(second.next);
    expect((await check(third.next)).requests).toBe(steady);
  });
});
