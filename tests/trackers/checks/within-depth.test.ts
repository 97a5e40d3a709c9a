import { expect, test } from "bun:test";
import type { ListRequest, UpstreamRelease } from "../../../src/sources/source.ts";
import { withinDepth } from "../../../src/trackers/checks/within-depth.ts";

function listed(tag: string, appeared?: boolean): UpstreamRelease {
  const facts = { published_at: null, revision: null, url: null, notes: null };
  return { version: tag, tag, stage: "tag", ...facts, ...(appeared === undefined ? {} : { appeared }) };
}

/** Channels take what begins with their letter; a tag with `?` was upstream before, one with `!` has just come. */
function run(
  tags: string,
  request: { letters: string; limit: number; most_each?: number; known?: string; watch?: string },
) {
  const { letters, limit, most_each, known = "", watch = "" } = request;
  const words = (text: string) => text.split(" ").filter(Boolean);
  const asked: ListRequest = {
    limit,
    ...(most_each === undefined ? {} : { most_each }),
    accepts: [...letters].map((letter) => (tag: string) => tag.startsWith(letter)),
    known: new Map(words(known).map((tag) => [tag, { revision: null, published_at: null }])),
    watch: words(watch),
    memo: null,
  };
  const releases = words(tags).map((word) =>
    listed(word.replace(/[?!]$/, ""), /[?!]$/.test(word) ? word.endsWith("!") : undefined),
  );
  const { listing, placed } = withinDepth({ releases, total: releases.length, memo: null }, asked);
  return { kept: listing.releases.map(({ tag }) => tag).join(" "), placed: [...placed].toSorted().join(" ") };
}

test("withinDepth() shares the places among the channels", () => {
  expect(run("a1 a2 a3 b1", { letters: "ab", limit: 3 })).toEqual({ kept: "a1 a2 b1", placed: "a1 a2 b1" });
});

test("withinDepth() leaves out what no channel takes", () => {
  expect(run("c1 a1", { letters: "a", limit: 3 })).toEqual({ kept: "a1", placed: "a1" });
});

test("withinDepth() keeps what is known, which has a place of its own only within the depth", () => {
  expect(run("a1 a2 a3", { letters: "a", limit: 1, known: "a3" })).toEqual({ kept: "a1 a3", placed: "a1" });
});

test("withinDepth() keeps what was asked for by name, without a place", () => {
  expect(run("a1 a2? a3?", { letters: "a", limit: 2, watch: "a1" })).toEqual({ kept: "a1 a2", placed: "a2" });
});

test("withinDepth() has a place for what has just come, though watched ones leave none", () => {
  expect(run("a1 a2 a3! a4?", { letters: "a", limit: 2, watch: "a1 a2" })).toEqual({ kept: "a1 a2 a3", placed: "" });
});

test("withinDepth() takes no more of one channel than is kept", () => {
  expect(run("a1 a2 a3 b1", { letters: "ab", limit: 9, most_each: 2 })).toEqual({
    kept: "a1 a2 b1",
    placed: "a1 a2 b1",
  });
});
