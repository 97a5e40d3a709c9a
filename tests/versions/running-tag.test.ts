import { describe, expect, test } from "bun:test";
import { find, parsePattern } from "../../src/versions/pattern.ts";
import { isOnward, keptOf, type Move, moveBetween, moveOf } from "../../src/versions/running-tag.ts";
import { runningTable } from "../trackers/import/running-tables.ts";
import { tagTable } from "./tag-tables.ts";

describe("moveBetween()", () => {
  const rows: readonly [repository: string, from: string, to: string, move: Move][] = [
    ["library/postgres", "16-alpine", "16.9-alpine", "forward"],
    ["library/postgres", "16-alpine", "17.5-alpine", "other_line"],
    ["library/postgres", "16-alpine", "17-alpine", "other_line"],
    ["library/postgres", "16-alpine", "15.13-alpine", "other_line"],
    ["library/postgres", "16-alpine", "16.9", "other_variant"],
    ["library/postgres", "16.8", "16.9", "forward"],
    ["library/postgres", "16.9", "16.8", "back"],
    ["library/postgres", "16.9", "17.5", "other_line"],
    ["library/postgres", "9.6.23", "9.7.0", "other_line"],
    ["library/mariadb", "11.4.4", "11.8.1", "other_line"],
    ["acme/app", "1.4", "1.5", "forward"],
    ["acme/app", "1.4", "1.4.1", "forward"],
    ["acme/app", "1.4", "1.5.0", "other_line"],
    ["acme/app", "1.4.2", "2.0.0", "forward"],
    ["acme/app", "v1.4.2", "1.5.0", "forward"],
    ["acme/app", "1.4.2", "1.4.1", "back"],
    ["acme/app", "1.5.0-rc1", "1.5.0", "forward"],
    ["acme/app", "1.5.0-alpine", "1.6.0-alpine3.21", "other_variant"],
    ["acme/app", "alpine-v1.5.0", "v1.6.0", "other_variant"],
    ["acme/app", "develop-1.5.0", "1.6.0", "other_variant"],
    ["acme/app", "noble-20250127", "plucky-20250401", "other_variant"],
    ["acme/app", "4.0.5-18", "4.0.6-20", "other_variant"],
    ["acme/app", "4.0.5-1", "4.0.6", "forward"],
    ["acme/app", "3355", "3400", "forward"],
    ["acme/app", "1.5.0", "2025.1.0", "unknown"],
    ["selenium/standalone-firefox", "4.38.0-20251101", "142.0-20251101", "unknown"],
    ["selenium/standalone-firefox", "142.0-20251101", "4.39.0-20251201", "unknown"],
    ["selenium/standalone-firefox", "4.38.0-20251101", "4.39.0-20251201", "forward"],
    ["selenium/standalone-firefox", "142.0-20251101", "143.0-20251201", "forward"],
    ["acme/app", "latest", "1.5.0", "unknown"],
    ["acme/app", "alpine", "1.5.0-alpine", "unknown"],
    ["acme/app", "alpine", "1.5.0", "other_variant"],
    ["acme/app", "alpine3.20", "1.5.0-alpine3.20", "unknown"],
    ["library/odoo", "17.0-20241108", "18.0-20250110", "other_line"],
    ["acme/app", "lts-alpine", "1.5.0-alpine", "other_variant"],
    ["acme/app", "stable", "1.5.0", "other_variant"],
    ["acme/app", "1.5.0", "latest", "unknown"],
  ];
  test.each(rows)("%s: %s to %s is %s", (repository, from, to, move) => {
    expect(moveBetween(from, to, repository)).toBe(move);
  });
});

test.each([
  ["1.27-alpine-otel", "1.28-alpine-otel", ["1.27.3-alpine-otel", "1.28.0-alpine-otel"], "other_line"],
  ["2024.10", "2024.12", ["2024.10.4"], "other_line"],
  ["v2.10", "v2.11", ["v2.10.1"], "other_line"],
  ["1.27-alpine-otel", "1.28-alpine-otel", ["1.27.3-otel", "1.27.3", "1.270.1-alpine-otel"], "forward"],
  ["23.5-slim", "23.6-slim", [], "forward"],
] as const)("%s to %s is judged by the tags beside it", (from, to, beside, move) => {
  expect(moveBetween(from, to, "vendor/app", beside)).toBe(move);
});

test.each([
  ["10.6", "11.4", "mariadb/server"],
  ["23.5-slim", "26.1-slim", "gvenzl/oracle-free"],
] as const)("%s to %s leaves the line of %s", (from, to, repository) => {
  expect(moveBetween(from, to, repository)).toBe("other_line");
});

test.each(["nightly", "develop", "latest-dev", "nightly-alpine"])("%s has no releases as an alternative", (tag) => {
  expect(keptOf(tag, "vendor/app")).toMatchObject({ follows: "tag", versions_pattern: null });
});

describe("moveOf()", () => {
  test("a name that moves goes on from the version that its digest is, and keeps its variant", () => {
    const running = { repository: "acme/app", tag: "alpine", names: ["1", "1.5", "1.5.0-alpine", "1.5.0-alpine3.20"] };
    expect(moveOf(running, "1.6.0-alpine")).toBe("forward");
    expect(moveOf(running, "1.4.0-alpine")).toBe("back");
    expect(moveOf(running, "1.6.0")).toBe("other_variant");
    expect(moveOf({ ...running, tag: "latest", names: ["1", "1.5", "1.5.0", "latest"] }, "2.0.0")).toBe("forward");
  });

  test("an image that runs by its digest is what the registry calls it, the exactest name first", () => {
    const running = { repository: "library/postgres", tag: null, names: ["16", "16.8", "latest"] };
    expect(moveOf(running, "16.9")).toBe("forward");
    expect(moveOf(running, "17.5")).toBe("other_line");
    expect(moveOf({ ...running, names: ["16.8-alpine"] }, "16.9")).toBe("other_variant");
    expect(moveOf({ ...running, names: [] }, "16.9")).toBe("unknown");
  });

  test("the tag that it was created from keeps the line, though its digest is a whole version", () => {
    const running = { repository: "acme/app", tag: "1.4", names: ["1.4", "1.4.2"] };
    expect(moveOf(running, "1.4.3")).toBe("forward");
    expect(moveOf(running, "1.5.0")).toBe("other_line");
  });
});

describe("keptOf()", () => {
  const takes = (pattern: string | null, tag: string) => pattern !== null && find(parsePattern(pattern), tag) !== null;

  const counted: [repository: string, runs: string, next: string, other: string][] = [
    ["grafana/grafana", "11.6.0-security-01", "11.6.1", "11.6.1-ubuntu"],
    ["grafana/grafana", "11.6.0-security-01-ubuntu", "11.6.1-ubuntu", "11.6.1"],
    ["acme/app", "1.2.3-hotfix.1", "1.2.4", "1.2.4-alpine"],
    ["acme/app", "v1.2.3_patch_2-alpine", "v1.3.0-alpine", "v1.3.0"],
    ["library/percona", "8.0.39-30", "8.0.40-31", "8.4.3-3"],
    ["percona/percona-server-mongodb", "7.0.15-9", "7.0.16-10", "8.0.4-1"],
    ["library/odoo", "17.0-20241108", "17.0-20250110", "18.0-20250110"],
  ];
  test.each(counted)("%s:%s goes on to %s", (repository, runs, next, other) => {
    const { include_pattern } = keptOf(runs, repository);
    expect([takes(include_pattern, next), takes(include_pattern, other)]).toEqual([true, false]);
    expect(moveBetween(runs, next, repository)).toBe("forward");
  });

  const names: [repository: string, name: string, version: string | null, other: string][] = [
    ["library/python", "bookworm", "3.13.1-bookworm", "3.13.1-trixie"],
    ["library/node", "lts-bookworm-slim", "22.11.0-bookworm-slim", "22.11.0-bookworm"],
    ["library/debian", "bookworm-slim", "bookworm-20250113-slim", "trixie-20250113-slim"],
    ["library/php", "fpm-alpine3.20", "8.4.1-fpm-alpine3.20", "8.4.1-fpm-alpine3.21"],
    ["library/wordpress", "php8.2-apache", "6.7.2-php8.2-apache", "6.7.2-php8.3-apache"],
    ["acme/app", "1.x", null, "1.4.0"],
  ];
  test.each(names)("%s:%s has %s as a version of it", (repository, name, version, other) => {
    const { versions_pattern } = keptOf(name, repository);
    expect(version === null ? versions_pattern === null : takes(versions_pattern, version)).toBe(true);
    expect(takes(versions_pattern, other)).toBe(false);
  });
});

describe("the pattern of a proposal and the guard of automatic runs agree", () => {
  test.each(
    runningTable.map(({ runs, before, then }) => [runs, [...new Set(`${before} ${then}`.split(" "))]] as const),
  )("on %s", (runs, tags) => {
    const [repository = "", running = "latest"] = runs.split(":");
    const pattern = parsePattern(keptOf(running, repository).include_pattern);
    for (const tag of tags.filter((each) => find(pattern, each) !== null)) {
      const move = moveBetween(running, tag, repository);
      expect([tag, isOnward(move) || move === "back"]).toEqual([tag, true]);
    }
  });
});

test.each([
  ["acme/app", "x".repeat(300)],
  ["acme/app", "1".repeat(256)],
  ["acme/app", "1.".repeat(128)],
  ["acme/app", "-".repeat(256)],
  ["acme/app", "1-a".repeat(85)],
  ["acme/app", `1.2.3-rc${"1-rc".repeat(60)}`],
])("whatever tag runs, its pattern can be taken: %s %p", (repository, tag) => {
  const { include_pattern } = keptOf(tag, repository);
  expect(() => parsePattern(include_pattern)).not.toThrow();
});

test.each(
  ["dev1.2.3", "go1.22.3", ...tagTable.map(([tag]) => tag)].filter((tag) =>
    /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(tag),
  ),
)("the pattern of %s takes it", (tag) => {
  const { include_pattern } = keptOf(tag, "acme/app");
  expect([include_pattern, find(parsePattern(include_pattern), tag) !== null]).toEqual([include_pattern, true]);
});
