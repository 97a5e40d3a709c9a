import { expect, test } from "bun:test";
import { proposedSorting } from "../../src/versions/channel.ts";

test.each(["16.12-alpine", "v1.27", "17", "2025.1.3", "noble-20250127", "alpine-v18.2.0", "8.4-rc1-alpine"])(
  "%s is followed by version",
  (tag) => {
    expect(proposedSorting([tag])).toBe("semantic");
  },
);

test.each(["latest", "stable-alpine", "alpine", "lts", "sha-0a1b2c3", "nightly"])("%s is followed by time", (tag) => {
  expect(proposedSorting([tag])).toBe("publish_time");
});

test("a list is followed by version as soon as it has one", () => {
  expect(proposedSorting(["latest", "alpine", "1.27.3"])).toBe("semantic");
  expect(proposedSorting(["latest", "alpine"])).toBe("publish_time");
  expect(proposedSorting([])).toBe("publish_time");
});
