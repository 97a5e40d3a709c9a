import { describe, expect, test } from "bun:test";
import { inEnglish, type Message, plain, say, toldAs } from "../../src/messages/message.ts";
import { eventBody } from "../../src/notifications/message.ts";
import { type OutageEventKind, type OutageFacts, outageEvents } from "../../src/notifications/outage-schema.ts";
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
    expect(text).toContain("is not running in either version; the other services are running.");
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

describe("an outage", () => {
  const shared = {
    ...{ outage: "o", since: Date.UTC(2026, 10, 21, 3, 12), code: "unreachable", lasted_ms: null },
    ...toldAs("reason", say("connections.silent", { seconds: 8 })),
  };
  const sources = ["a", "b", "c", "d", "e", "f"].map((tracker) => ({ tracker, source: "main" }));
  const members = { host: "ghcr.io", source_count: 12, sources };
  const all: readonly OutageFacts[] = [
    {
      cause: "connection",
      connection: "Home",
      connection_id: "c",
      executor_count: 2,
      executors: ["db", "web"],
      ...shared,
    },
    { cause: "upstream", ...members, ...shared },
    { cause: "credential", credential: "ci", credential_id: "k", ...members, ...shared },
  ];
  const textOf = (facts: OutageFacts, language: "en" | "zh") => {
    const { begin, end } = outageEvents[facts.cause];
    const kind: OutageEventKind = facts.lasted_ms === null ? begin : end;
    return eventBody({ kind, facts }, language, "https://tidemark.example");
  };

  const toldIn = (language: "en" | "zh", lasted_ms: number | null) =>
    all.map((facts) => {
      const { title, text } = textOf({ ...facts, lasted_ms }, language);
      return [title, text];
    });
  const since = "2026-11-21 03:12 UTC";

  test("says what fails, why, since when, and what it affects", () => {
    const reason = "No response within 8 seconds.";
    expect(toldIn("en", null)).toEqual([
      [
        "Home: connection lost",
        `Unreachable since ${since}. ${reason} 2 executors affected: db, web. Nothing can be updated there until it recovers.`,
      ],
      [
        "ghcr.io is not responding",
        `Checks have failed since ${since}. ${reason} 12 sources affected: a, b, c, d, e and more. Tidemark keeps trying.`,
      ],
      [
        'ghcr.io refuses the credential "ci"',
        `Checks have failed since ${since}. ${reason} 12 sources affected: a, b, c, d, e and more. No new releases are found there until it is accepted.`,
      ],
    ]);
    expect(toldIn("zh", null)).toEqual([
      [
        "Home：连接已断开",
        `自 ${since} 起无法访问。原因：8 秒内没有响应。2 个执行器受到影响：db、web。恢复之前无法在此执行更新。`,
      ],
      [
        "ghcr.io 没有响应",
        `自 ${since} 起检查失败。原因：8 秒内没有响应。12 个来源受到影响：a、b、c、d、e 等。Tidemark 会继续重试。`,
      ],
      [
        "ghcr.io 拒绝了凭据“ci”",
        `自 ${since} 起检查失败。原因：8 秒内没有响应。12 个来源受到影响：a、b、c、d、e 等。恢复之前无法发现那里的新版本。`,
      ],
    ]);
  });

  test("that is over says how long it lasted", () => {
    expect(toldIn("en", 7_500_000)).toEqual([
      ["Home: connection recovered", `It was unreachable for 2 h 5 min, since ${since}.`],
      [
        "ghcr.io is responding again",
        `It did not respond for 2 h 5 min, since ${since}. The sources that waited are being checked.`,
      ],
      ['ghcr.io accepts the credential "ci" again', `It was refused for 2 h 5 min, since ${since}.`],
    ]);
    expect(toldIn("zh", 7_500_000)).toEqual([
      ["Home：连接已恢复", `自 ${since} 起无法访问，持续了 2 小时 5 分钟。`],
      ["ghcr.io 已恢复响应", `自 ${since} 起没有响应，持续了 2 小时 5 分钟。等待中的来源正在逐个检查。`],
      ["ghcr.io 已重新接受凭据“ci”", `该凭据自 ${since} 起被拒绝，持续了 2 小时 5 分钟。`],
    ]);
  });

  test("leads to the page where it can be fixed, and gives times as text", () => {
    expect(all.map((facts) => textOf(facts, "en").link)).toEqual([
      "https://tidemark.example/connections/c",
      "https://tidemark.example/upstreams",
      "https://tidemark.example/credentials/k/edit",
    ]);
    expect(textOf({ ...all[1], lasted_ms: 60_000 } as OutageFacts, "en")).toMatchObject({
      ...{ event: "upstream_recovered", since: "2026-11-21T03:12:00.000Z", lasted_ms: 60_000, outage: "o" },
    });
  });
});
