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

describe("a run that failed", () => {
  const run = {
    executor: "shop",
    run: "r",
    kind: "update" as "update" | "rollback",
    from: { tag: "1", digest: null },
    to: { tag: "2", digest: null },
    outcome: "failed" as const,
    reason: "The update failed: no",
    downtime_ms: null,
    serving: "previous" as string | null,
  };
  const textOf = (changes: Partial<typeof run>) =>
    eventBody({ kind: "executor_run_failed", executor_id: "e", run_id: "r", facts: { ...run, ...changes } }, "en", "")
      .text;

  test.each([
    ["back on the previous version", {}, "The update failed: no. The previous version serves again."],
    ["of both versions", { serving: "mixed" }, "Some services run the new version, others what ran before."],
    ["a rollback that is back", { kind: "rollback" as const }, "What ran before the rollback serves again."],
    [
      "a rollback that stays",
      { kind: "rollback" as const, serving: "desired" },
      "The version of the snapshot is running.",
    ],
    ["down", { serving: "none" }, "TARGET DOWN: neither version is running."],
  ])("%s", (_, changes, expected) => {
    expect(textOf(changes)).toContain(expected);
  });

  test("in a part is not told to be down as a whole", () => {
    const reason = 'No. Target down: "db" does not run in either version, the other services run';
    const text = textOf({ serving: "none", reason });
    expect(text).toContain(`${reason}.`);
    expect(text).not.toContain("neither version");
  });
});
