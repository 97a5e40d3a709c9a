import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { findLinePatches, type PatchProof } from "../../src/versions/line-patches.ts";
import { lineOf, olderThan } from "../../src/versions/older-lines.ts";
import { orderTags } from "../../src/versions/order.ts";

const day = 24 * 60 * 60 * 1000;

/** Versions as `tag@day`, in any order; without a day nobody knows when. */
function find(text: string) {
  const days = new Map(
    text.split(" ").map((word) => {
      const [tag = "", at] = word.split("@");
      return [tag, at === undefined ? null : Number(at) * day];
    }),
  );
  const listed = orderTags([...days.keys()]).map((tag) => ({
    tag,
    stage: "tag" as const,
    published_at: days.get(tag) ?? null,
  }));
  return findLinePatches(listed, "stable");
}

describe("findLinePatches()", () => {
  test("finds versions that were published after a higher one of another line, the last first", () => {
    expect(find("16.11@1 17.6@1 18.0@2 18.1@5 17.7@6 16.12@7 latest@9")).toEqual({
      proof: "published",
      count: 2,
      examples: [
        { tag: "16.12", at: 7 * day, after: "18.1", after_at: 5 * day },
        { tag: "17.7", at: 6 * day, after: "18.1", after_at: 5 * day },
      ],
      lines: ["18.1", "17.7", "16.12"],
    });
  });

  test.each([
    ["each line ends before the next", "1.0.0@1 1.0.1@2 1.1.0@3 1.1.1@4 2.0.0@5"],
    ["all were published at once", "16.12@3 17.7@3 18.1@3"],
    ["a version of the same line came late", "1.2.4@1 1.2.3@2 1.1.0@0"],
    ["only candidates come after the releases of a later line", "2.0.0@3 2.1.0@4 1.9.0-rc1@5 1.9.0@1"],
    ["another variant of an older line comes late", "1.27.3@1 1.28.0@2 1.27.3-alpine@3"],
    ["a higher number was left years ago", "4.0.0@1 4.0.1@9 1.8.0@900 1.8.1@910 1.9.0@920"],
    ["there is one line", "1.2.3 1.2.4 1.2.5"],
    ["there are only names that move", "latest stable alpine"],
    ["versions are dates", "2024-01-02 2024-01-03 2024-02-01 2024-02-02"],
  ])("finds nothing where %s", (_, text) => {
    expect(find(text)).toBeNull();
  });

  test("finds by its base system what is newer than a higher version", () => {
    const bases = "18.0-alpine3.22 18.1-alpine3.22 17.7-alpine3.23 16.12-alpine3.23 16-alpine3.23 17-alpine3.23";
    expect(find(`18 18.0 18.1 17 17.7 16 16.12 16.11 ${bases}`)).toMatchObject({
      proof: "built",
      count: 2,
      examples: [
        { tag: "17.7-alpine3.23", after: "18.1-alpine3.22" },
        { tag: "16.12-alpine3.23", after: "18.1-alpine3.22" },
      ],
    });
  });

  test("finds nothing in a base that the higher version is offered on too, nor in a name for a line", () => {
    const bases = "18.1-alpine3.22 18.1-alpine3.23 16.12-alpine3.23 16-alpine3.24";
    expect(find(`18.1 16.12 16.11 16 ${bases}`)?.proof).toBe("listed");
  });

  test("says without times no more than that there are older lines with patches", () => {
    expect(find("3.6.4 3.6.3 2.11.34 2.11.33")).toEqual({
      proof: "listed",
      count: 0,
      examples: [],
      lines: ["3.6.4", "2.11.34"],
    });
    expect(find("3.6.0 3.5.0 3.4.0")).toBeNull();
  });
});

const Facts = v.object({ upstream: v.string(), tags: v.array(v.string()) });

test.each([
  ["argoproj-argo-cd", "published"],
  ["cert-manager-cert-manager", "published"],
  ["dotnet-runtime", "published"],
  ["golang-go", "published"],
  ["grafana-git", "published"],
  ["kubernetes-kubernetes", "published"],
  ["prometheus-prometheus", "published"],
  ["python-cpython", "published"],
  ["node", "built"],
  ["postgres", "built"],
  ["redis", "built"],
  ["mariadb", "listed"],
  ["nginx", "listed"],
  ["traefik-traefik", "listed"],
  ["bitwarden-server", undefined],
  ["home-assistant-core", undefined],
  ["immich-app-immich", undefined],
  ["jellyfin-jellyfin", undefined],
  ["rust-lang-rust", undefined],
  ["syncthing-syncthing", undefined],
])("the list of %s shows patches of older lines as %p", (name, proof) => {
  const file = new URL(`../fixtures/corpus/${name}.json`, import.meta.url);
  const facts = v.parse(Facts, JSON.parse(readFileSync(file, "utf8")));
  const tags = facts.tags.flatMap((line) => line.split(" "));
  const hasTimes = facts.upstream !== "container tags";
  const listed = orderTags(tags).map((tag) => ({
    tag,
    stage: "tag" as const,
    published_at: hasTimes ? tags.indexOf(tag) * day : null,
  }));
  expect([findLinePatches(listed, "stable")?.proof]).toEqual([proof as PatchProof | undefined]);
});

test.each([
  ["16.12", "16"],
  ["v1.27.3", "1.27"],
  ["16.12-alpine", "16"],
  ["17", null],
  ["latest", null],
  ["2024-06-01", null],
])("the line of %s is %p", (tag, line) => {
  expect(lineOf(tag)).toBe(line);
});

test.each([
  ["16.12", "18.1", "older_line"],
  ["18.0", "18.1", "older_version"],
  ["18.1", "18.1", null],
  ["18.2", "18.1", null],
  ["16.12-alpine", "18.1", null],
  ["latest", "18.1", null],
])("%s beside %s is %p", (tag, newest, expected) => {
  expect(olderThan(tag, newest)).toBe(expected as never);
});
