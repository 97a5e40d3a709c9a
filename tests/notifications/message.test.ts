import { describe, expect, test } from "bun:test";
import { inEnglish, type Message, plain, say, toldAs } from "../../src/messages/message.ts";
import { eventBody } from "../../src/notifications/message.ts";
import type { ReleaseFacts } from "../../src/notifications/schema.ts";

const facts: Omit<ReleaseFacts, "notes"> = {
  tracker: "web",
  channel: "stable",
  channel_type: "stable",
  version: "1.0.0",
  tag: "1.0.0",
  sources: ["main"],
  url: null,
  maturity: "release",
  remark: null,
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

describe("a new version", () => {
  const textOf = (changes: Partial<ReleaseFacts>, language: "en" | "zh" = "en") => {
    const all = { ...facts, notes: null, ...changes };
    const { title, text } = eventBody({ kind: "new_release", tracker_id: "t", facts: all }, language, "");
    return [title, text];
  };
  const patch = { version: "16.12", previous_version: "16.11", also: ["15.16"] };
  const older = { ...patch, remark: { code: "older_line", params: { newest: "18.1" } } } as const;

  test("of an older line says so, and names the newest", () => {
    expect(textOf(older)).toEqual([
      "web 16.12 is out (older line)",
      "New stable release of web: 16.12, before 16.11. It belongs to an older line; the newest version is still 18.1. Also new: 15.16.",
    ]);
    expect(textOf(older, "zh")).toEqual([
      "web 发布了 16.12（旧版本线）",
      "web 发布了新版本 16.12（稳定版通道），上一版本为 16.11。该版本属于旧版本线，最新版本仍为 18.1。同期发布：15.16。",
    ]);
    const named = { ...patch, channel: "16", also: [] };
    expect(textOf(named)[1]).toBe("New stable release of web in channel 16: 16.12, before 16.11.");
    expect(textOf(named, "zh")[1]).toBe("web 发布了新版本 16.12（通道 16），上一版本为 16.11。");
    const late = { ...patch, remark: { code: "older_version", params: { newest: "16.13" } } } as const;
    expect(textOf(late)).toEqual([
      "web 16.12 is out (not the newest version)",
      "New stable release of web: 16.12, before 16.11. It was published late; the newest version is still 16.13. Also new: 15.16.",
    ]);
  });

  test("that is the newest has no remark", () => {
    expect(textOf(patch)[1]).toBe("New stable release of web: 16.12, before 16.11. Also new: 15.16.");
    expect(textOf({})[1]).toBe("New stable release of web: 1.0.0.");
  });

  test("is called by what it is in a stable channel", () => {
    expect(textOf({ version: "2.0.0-rc1", maturity: "candidate" })[1]).toBe("New pre-release of web: 2.0.0-rc1.");
    expect(textOf({ version: "2.0.0-beta1", maturity: "beta" })[1]).toBe("New beta release of web: 2.0.0-beta1.");
  });
});

describe("a run that failed", () => {
  const failed = say("runs.failed", { kind: "update", container: null, cause: plain("no") });
  const run = {
    executor: "shop",
    run: "r",
    kind: "update" as "update" | "rollback",
    from: { tag: "1", digest: null },
    to: { tag: "2", digest: null },
    outcome: "failed" as const,
    ...toldAs("reason", failed as Message),
    downtime_ms: null,
    serving: "previous" as string | null,
  };
  const textOf = (changes: Partial<typeof run>) =>
    eventBody({ kind: "executor_run_failed", executor_id: "e", run_id: "r", facts: { ...run, ...changes } }, "en", "")
      .text;

  test.each([
    ["back on the previous version", {}, "The update failed: no. The previous version is running again."],
    ["of both versions", { serving: "mixed" }, "Some services run the new version, others the previous one."],
    ["a rollback that is back", { kind: "rollback" as const }, "The version before the rollback is running again."],
    ["a rollback that stays", { kind: "rollback" as const, serving: "desired" }, "The snapshot version is running."],
    ["down", { serving: "none" }, "TARGET DOWN: neither version is running."],
  ])("%s", (_, changes, expected) => {
    expect(textOf(changes)).toContain(expected);
  });

  test("in a part is not told to be down as a whole", () => {
    const reason = say("runs.partly_down", { reason: failed, services: ["db"] });
    const text = textOf({ serving: "none", ...toldAs("reason", reason) });
    expect(text).toContain("does not run in either version; the other services are running.");
    expect(text).not.toContain("neither version");
  });

  test("tells its reason in the notifier's language, and as data beside the English", () => {
    const reason = say("runs.unhealthy", { kind: "update", cause: say("net.timed_out", { host: "a", seconds: 3 }) });
    const facts = { ...run, ...toldAs("reason", reason) };
    const body = eventBody({ kind: "executor_run_failed", executor_id: "e", run_id: "r", facts }, "zh", "");
    expect(body).toMatchObject({ reason: inEnglish(reason), reason_data: reason });
    expect(body.text).toContain("原因：新版本未通过健康检查：");
    expect(body.text).not.toMatch(/The new|Request|timed out/);
  });
});
