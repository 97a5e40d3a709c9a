import { describe, expect, test } from "bun:test";
import {
  dayKey,
  endSentence,
  formatBytes,
  formatClock,
  formatDate,
  formatDay,
  formatDuration,
  formatInstant,
  formatLabels,
  formatRelative,
  formatShort,
  formatSoon,
  formatWait,
  formatWeekday,
  plural,
} from "../../templates/format.ts";

const now = Date.UTC(2026, 10, 20, 20, 14, 9, 120);
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe("formatRelative()", () => {
  test.each([
    [second, "now", "现在"],
    [0, "just now", "刚刚"],
    [-59 * second, "just now", "刚刚"],
    [-minute, "1 minute ago", "1分钟前"],
    [-12 * minute, "12 minutes ago", "12分钟前"],
    [-90 * minute, "1 hour ago", "1小时前"],
    [-25 * hour, "1 day ago", "1天前"],
    [-59 * day, "59 days ago", "59天前"],
    [-61 * day, "2 months ago", "2个月前"],
    [-800 * day, "2 years ago", "2年前"],
    [4 * hour, "in 4 hours", "4小时后"],
  ])("%i ms from now", (offset, english, chinese) => {
    expect(formatRelative("en", now + offset, now)).toBe(english);
    expect(formatRelative("zh", now + offset, now)).toBe(chinese);
  });
});

describe("formatDuration()", () => {
  test.each([
    [4, "4 ms", "4 毫秒"],
    [384, "0.38 s", "0.38 秒"],
    [1100, "1.1 s", "1.1 秒"],
    [12_700, "13 s", "13 秒"],
    [202_000, "3 min 22 s", "3 分钟 22 秒"],
    [2 * hour, "2 h", "2 小时"],
    [2 * hour + 5 * minute, "2 h 5 min", "2 小时 5 分钟"],
    [3 * day + 4 * hour, "3 d 4 h", "3 天 4 小时"],
  ])("%i ms is %s", (ms, english, chinese) => {
    expect(formatDuration("en", ms)).toBe(english);
    expect(formatDuration("zh", ms)).toBe(chinese);
  });
});

test.each([
  ["en", "Friday 20 November", "Friday 20 November 2026"],
  ["zh", "11月20日星期五", "2026年11月20日星期五"],
] as const)("a day of another year in %s has it where the language puts it", (language, short, whole) => {
  const shown = (seen: number) => formatDay({ language, time_zone: "UTC", now: seen }, now);
  expect(shown(now)).toBe(short);
  expect(shown(now + 365 * day)).toBe(whole);
});

describe("times are in the zone of the settings", () => {
  test.each([
    ["Europe/Berlin", "2026-11-20", "21:14"],
    ["Asia/Shanghai", "2026-11-21", "04:14"],
    ["Pacific/Apia", "2026-11-21", "09:14"],
    ["America/Santiago", "2026-11-20", "17:14"],
  ])("%s", (time_zone, key, clock) => {
    expect(dayKey({ time_zone }, now)).toBe(key);
    expect(formatClock({ language: "en", time_zone }, now)).toBe(clock);
  });

  test("formatInstant() says the weekday and the zone", () => {
    expect(formatInstant({ language: "en", time_zone: "Europe/Berlin" }, now)).toBe(
      "Friday 20 November 2026, 21:14:09 CET",
    );
    expect(formatInstant({ language: "zh", time_zone: "Asia/Shanghai" }, now)).toBe(
      "2026年11月21日星期六 04:14:09 GMT+8",
    );
  });

  test("formatShort() says only another year, and never breaks", () => {
    const ctx = { language: "en", time_zone: "Europe/Berlin", now } as const;
    const shown = (instant: number, language: "en" | "zh" = "en") => formatShort({ ...ctx, language }, instant);
    expect(shown(now)).toBe("20\u00a0Nov,\u00a021:14");
    expect(shown(now, "zh")).toBe("11\u2060月\u206020\u2060日\u00a021:14");
    // Already the next year there.
    expect(shown(Date.UTC(2026, 11, 31, 23, 30))).toBe("1\u00a0Jan\u00a02027,\u00a000:30");
    expect(shown(Date.UTC(2026, 11, 31, 23, 30), "zh")).toBe("2027\u2060年\u20601\u2060月\u20601\u2060日\u00a000:30");
  });

  test.each([
    ["en", "Fri\u00a020\u00a0Nov,\u00a021:14", "Fri\u00a020\u00a0Nov\u00a02026,\u00a021:14", "Fri"],
    [
      "zh",
      "11\u2060月\u206020\u2060日\u2060周\u2060五\u00a021:14",
      "2026\u2060年\u206011\u2060月\u206020\u2060日\u2060周\u2060五\u00a021:14",
      "周五",
    ],
  ] as const)("a weekday stands in a date of %s as in a heading", (language, same, other, alone) => {
    const ctx = { language, time_zone: "Europe/Berlin", now };
    expect(formatShort(ctx, now, { weekday: "short" })).toBe(same);
    expect(formatShort({ ...ctx, now: now + 365 * day }, now, { weekday: "short" })).toBe(other);
    expect(formatWeekday(ctx, now)).toBe(alone);
  });

  test("formatDate() says only another year; formatSoon() the day unless it is today", () => {
    const ctx = { language: "en", time_zone: "Europe/Berlin", now } as const;
    expect([formatDate(ctx, now), formatDate(ctx, now - 365 * day)]).toEqual(["20 Nov", "20 Nov 2025"]);
    expect(formatSoon(ctx, now + 2 * hour)).toBe("23:14");
    // Within a day, but tomorrow.
    expect(formatSoon(ctx, now + 4 * hour)).toBe("21\u00a0Nov,\u00a001:14");
  });

  test("formatClock() at midnight is 00:00, never 24:00", () => {
    expect(formatClock({ language: "en", time_zone: "UTC" }, Date.UTC(2026, 0, 1))).toBe("00:00");
    expect(formatClock({ language: "zh", time_zone: "UTC" }, now, "tenth")).toBe("20:14:09.1");
  });
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [14_200, "14 kB"],
  [1_500_000, "1.5 MB"],
  [412_000_000, "412 MB"],
])("formatBytes() of %i is %s", (bytes, expected) => {
  expect(formatBytes("en", bytes)).toBe(expected);
});

test("formatLabels() lowers all but the first, and leaves names and abbreviations", () => {
  expect(formatLabels("en", ["New release", "Run failed", "API tokens", "Helm releases"])).toBe(
    "New release, run failed, API tokens and Helm releases",
  );
  expect(formatLabels("zh", ["新版本", "运行失败"])).toBe("新版本和运行失败");
});

test.each([
  ["Blank means Docker Hub", "Blank means Docker Hub.", "Blank means Docker Hub。"],
  ["Ends itself.", "Ends itself.", "Ends itself."],
  ["", "", ""],
])("endSentence() of %j", (text, english, chinese) => {
  expect(endSentence("en", text)).toBe(english);
  expect(endSentence("zh", text)).toBe(chinese);
});

test("plural() formats the number and chooses the form", () => {
  expect(plural("en", 1, { one: "run", other: "runs" })).toBe("1 run");
  expect(plural("en", 1204, { one: "run", other: "runs" })).toBe("1,204 runs");
  expect(plural("en", 0, { one: "run", other: "runs" })).toBe("0 runs");
});

test.each([
  [0, "1 second", "1 秒"],
  [1.2, "2 seconds", "2 秒"],
  [59, "59 seconds", "59 秒"],
  [90, "1 min 30 s", "1 分钟 30 秒"],
])("formatWait() says %d s in whole seconds", (seconds, english, chinese) => {
  expect(formatWait("en", seconds)).toBe(english);
  expect(formatWait("zh", seconds)).toBe(chinese);
});
