import { describe, expect, test } from "bun:test";
import { eventBody } from "../../src/notifications/message.ts";

const facts = {
  tracker: "web",
  channel: "stable" as const,
  version: "1.0.0",
  tag: "1.0.0",
  sources: ["main"],
  url: null,
  previous_version: null,
  previous_revision: null,
  revision: null,
  also: [],
};

const notesIn = (notes: string | null) =>
  eventBody({ kind: "new_release", tracker_id: "t", facts: { ...facts, notes } }, "en", "").notes;

describe("eventBody() gives release notes", () => {
  test.each([
    ["none", null, null],
    ["short ones as they are", "# a", "# a"],
    ["4 KiB as they are", "a".repeat(4_096), "a".repeat(4_096)],
    ["more than 4 KiB cut, with a mark", "a".repeat(4_097), `${"a".repeat(4_092)}\n…`],
    ["other scripts cut between characters", "版".repeat(2_000), `${"版".repeat(1_364)}\n…`],
    ["characters of two units whole", "😀".repeat(2_000), `${"😀".repeat(1_023)}\n…`],
  ])("%s", (_, notes, expected) => {
    expect(notesIn(notes)).toBe(expected);
    expect(Buffer.byteLength(expected ?? "")).toBeLessThanOrEqual(4_096);
  });
});
