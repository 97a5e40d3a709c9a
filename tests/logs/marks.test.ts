import { expect, test } from "bun:test";
import {
  type LogMark,
  linesAfter,
  markAfter,
  marksText,
  missedSince,
  readMarks,
  secondBefore,
} from "../../src/logs/marks.ts";
import type { LogLine } from "../../src/runtimes/logs.ts";

const at = (second: number, nanos = 0) => `2026-01-05T12:00:0${second}.${String(nanos).padStart(9, "0")}Z`;
const lines = (second: number, ...texts: readonly string[]): LogLine[] =>
  texts.map((text) => ({ at: at(second), text }));
const textsOf = (found: readonly LogLine[]) => found.map(({ text }) => text);
function marked(read: readonly LogLine[]): LogMark {
  const mark = markAfter(null, read);
  if (mark === null) throw new Error("Nothing was read");
  return mark;
}

test("markAfter() keeps the latest time, and how many lines have it", () => {
  expect(markAfter(null, [])).toBeNull();
  expect(marked([...lines(1, "a"), ...lines(2, "b", "c")])).toMatchObject({ at: at(2), count: 2 });
  // An engine that tells none.
  expect(markAfter(null, [{ at: "", text: "a" }])).toBeNull();
  // Both outputs of a container may come a moment out of order.
  expect(marked([...lines(2, "b"), ...lines(1, "a")])).toMatchObject({ at: at(2), count: 1 });
  expect(markAfter(marked(lines(2, "b")), lines(2, "c"))).toMatchObject({ at: at(2), count: 2 });
});

test("nanoseconds count", () => {
  const mark = marked([{ at: at(1, 7), text: "a" }]);
  const again = [
    { at: at(1, 7), text: "a" },
    { at: at(1, 8), text: "b" },
  ];
  expect(textsOf(missedSince(mark, again).lines)).toEqual(["b"]);
  expect(secondBefore(mark)).toBe(Date.UTC(2026, 0, 5, 12, 0, 0) / 1000);
});

test.each<[what: string, read: LogLine[], now: LogLine[], missed: string[], hasGap: boolean]>([
  ["nothing new", lines(1, "a", "b"), lines(1, "a", "b"), [], false],
  ["lines of the same second", lines(1, "a", "b"), lines(1, "a", "b", "c"), ["c"], false],
  ["equal lines of the same second", lines(1, "a", "a"), lines(1, "a", "a", "a"), ["a"], false],
  ["later lines", lines(1, "a"), [...lines(1, "a"), ...lines(2, "b")], ["b"], false],
  ["earlier lines too", lines(2, "b"), [...lines(1, "a"), ...lines(2, "b", "c")], ["c"], false],
  [
    "only the last lines of a second had been read",
    lines(1, "c", "d"),
    lines(1, "a", "b", "c", "d", "e"),
    ["e"],
    false,
  ],
  ["what was read is gone", lines(1, "a"), lines(3, "x"), ["x"], true],
  ["a part of what was read is gone", lines(1, "a", "b"), [...lines(1, "b"), ...lines(2, "c")], ["c"], true],
])("missedSince() when there are %s", (_what, read, now, missed, hasGap) => {
  const found = missedSince(marked(read), now);
  expect([textsOf(found.lines), found.hasGap]).toEqual([missed, hasGap]);
  // The same is then known of a stream.
  const { isNew } = linesAfter(found.from);
  expect(textsOf(now.filter(isNew))).toEqual(missed);
});

test("linesAfter() lets everything pass behind the first new line", () => {
  const { isNew } = linesAfter(marked(lines(1, "a")));
  const later = [...lines(1, "a"), ...lines(2, "b"), ...lines(1, "late"), { at: "", text: "timeless" }];
  expect(textsOf(later.filter(isNew))).toEqual(["b", "late", "timeless"]);
});

test("marks survive an address, and hostile ones are left out", () => {
  const marks = new Map([
    ["shop-web-1", marked(lines(1, "a"))],
    ["web-0/app & more", marked(lines(2, "a", "b"))],
  ]);
  expect(readMarks(marksText(marks))).toEqual(marks);
  const form = `2026-01-05T12:00:01.000000000Z*1*01234567`;
  for (const text of [
    "a=b",
    "a=*1*01234567",
    `a=${form.replace("01-05", "99-99")}`,
    `a=${form}${"0".repeat(9_000)}`,
    "%",
  ]) {
    expect(readMarks(text).size).toBe(0);
  }
  expect(readMarks(`a=${form}`).get("a")?.count).toBe(1);
});

test("marks do not tell what was written", () => {
  expect(marksText(new Map([["a", marked(lines(1, "kelp-otter"))]]))).not.toContain("kelp");
});
