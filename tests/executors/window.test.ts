import { describe, expect, test } from "bun:test";
import { currentOpening, nextOpenings, type Weekday, type Window, weekdays } from "../../src/executors/window.ts";

const every = weekdays;
const window = (days: readonly Weekday[], start: string, end: string): Window => ({ days, start, end });
const at = (text: string) => Date.parse(text);
const iso = (instant: number | undefined) => (instant === undefined ? null : new Date(instant).toISOString());

describe("currentOpening()", () => {
  // 2026-03-02 is a Monday.
  test.each([
    ["before the start", "UTC", ["monday"], "22:00", "02:00", "2026-03-02T21:59:59.999Z", false],
    ["at the start, inclusive", "UTC", ["monday"], "22:00", "02:00", "2026-03-02T22:00:00Z", true],
    ["after midnight, owned by Monday", "UTC", ["monday"], "22:00", "02:00", "2026-03-03T01:00:00Z", true],
    ["at the end, exclusive", "UTC", ["monday"], "22:00", "02:00", "2026-03-03T02:00:00Z", false],
    ["Monday 01:00 belongs to Sunday", "UTC", ["monday"], "22:00", "02:00", "2026-03-02T01:00:00Z", false],
    ["equal times are the whole day", "UTC", ["monday"], "03:00", "03:00", "2026-03-02T00:00:00Z", true],
    ["the whole day ends at midnight", "UTC", ["monday"], "03:00", "03:00", "2026-03-03T00:00:00Z", false],
    ["an offset of +5:30", "Asia/Kolkata", ["tuesday"], "00:00", "01:00", "2026-03-02T18:30:00Z", true],
    [
      "an offset of +5:30, a minute early",
      "Asia/Kolkata",
      ["tuesday"],
      "00:00",
      "01:00",
      "2026-03-02T18:29:00Z",
      false,
    ],
    // Berlin leaves out 02:00 to 03:00 on 2026-03-29 (Sunday), the change is at 01:00Z.
    [
      "a start in the skipped hour opens after it",
      "Europe/Berlin",
      ["sunday"],
      "02:30",
      "04:00",
      "2026-03-29T01:00:00Z",
      true,
    ],
    [
      "an end in the skipped hour closes at it",
      "Europe/Berlin",
      ["sunday"],
      "01:00",
      "02:30",
      "2026-03-29T01:00:00Z",
      false,
    ],
    [
      "a window inside the skipped hour stays shut",
      "Europe/Berlin",
      ["sunday"],
      "02:15",
      "02:45",
      "2026-03-29T01:00:00Z",
      false,
    ],
    // Berlin repeats 02:00 to 03:00 on 2026-10-25 (Sunday): 00:00Z to 01:00Z, then 01:00Z to 02:00Z.
    ["the first of a repeated hour", "Europe/Berlin", ["sunday"], "02:15", "02:45", "2026-10-25T00:20:00Z", true],
    ["the second of a repeated hour", "Europe/Berlin", ["sunday"], "02:15", "02:45", "2026-10-25T01:20:00Z", false],
    [
      "a window over the repeated hour, its second",
      "Europe/Berlin",
      ["sunday"],
      "01:00",
      "04:00",
      "2026-10-25T01:20:00Z",
      true,
    ],
    // Santiago leaves out 00:00 to 01:00 on 2026-09-06 (Sunday), the change is at 04:00Z.
    [
      "a whole day that begins with the skipped hour",
      "America/Santiago",
      ["sunday"],
      "00:00",
      "00:00",
      "2026-09-06T04:00:00Z",
      true,
    ],
    ["the minute before that day", "America/Santiago", ["sunday"], "00:00", "00:00", "2026-09-06T03:59:00Z", false],
    // Santiago repeats 23:00 to 24:00 on 2026-04-04 (Saturday): 02:00Z to 03:00Z, then 03:00Z to 04:00Z of the 5th.
    [
      "a repeated hour before midnight",
      "America/Santiago",
      ["saturday"],
      "23:30",
      "00:30",
      "2026-04-05T03:15:00Z",
      true,
    ],
    [
      "the end after the repeated hour",
      "America/Santiago",
      ["saturday"],
      "23:30",
      "00:30",
      "2026-04-05T04:30:00Z",
      false,
    ],
    // Apia had no Friday 2011-12-30: after Thursday 24:00 (10:00Z of the 30th) came Saturday 00:00.
    ["a day that did not exist", "Pacific/Apia", ["friday"], "22:00", "02:00", "2011-12-30T10:30:00Z", false],
    ["the day before it, over the gap", "Pacific/Apia", ["thursday"], "22:00", "02:00", "2011-12-30T09:00:00Z", true],
    ["the day after it", "Pacific/Apia", ["saturday"], "00:00", "02:00", "2011-12-30T10:30:00Z", true],
  ] as const)("%s", (_name, zone, days, start, end, now, isOpen) => {
    expect(currentOpening(window(days, start, end), zone, at(now)) !== null).toBe(isOpen);
  });

  test("opens exactly once on every day of a year with clock changes, whatever the hour", () => {
    for (const zone of ["Europe/Berlin", "America/Santiago", "Asia/Kolkata", "UTC", "Australia/Lord_Howe"]) {
      for (const [start, end] of [
        ["02:30", "03:30"],
        ["23:30", "00:30"],
        ["00:00", "00:00"],
        ["12:00", "11:00"],
      ] as const) {
        const openings: string[] = [];
        const endOfYear = at("2027-01-01T12:00:01Z");
        for (let now: number | undefined = at("2026-01-01T12:00:01Z"); now !== undefined && now < endOfYear; ) {
          const found = nextOpenings(window(every, start, end), zone, now, 50);
          openings.push(...found.filter((each) => each.opens_at < endOfYear).map((each) => iso(each.opens_at) ?? ""));
          now = found.at(-1)?.opens_at;
        }
        expect([zone, start, openings.length]).toEqual([zone, start, 365]);
      }
    }
  });
});

describe("nextOpenings()", () => {
  test("leaves out the opening that is going on", () => {
    const found = nextOpenings(window(["monday"], "22:00", "02:00"), "UTC", at("2026-03-02T23:00:00Z"), 3);
    expect(found.map((each) => iso(each.opens_at))).toEqual([
      "2026-03-09T22:00:00.000Z",
      "2026-03-16T22:00:00.000Z",
      "2026-03-23T22:00:00.000Z",
    ]);
  });

  test("keeps the wall clock across a change: an hour earlier in UTC from summer time on", () => {
    const found = nextOpenings(window(["sunday"], "04:00", "05:00"), "Europe/Berlin", at("2026-03-20T00:00:00Z"), 2);
    expect(found.map((each) => iso(each.opens_at))).toEqual(["2026-03-22T03:00:00.000Z", "2026-03-29T02:00:00.000Z"]);
  });

  test("skips the week in which the window lies inside the skipped hour", () => {
    const found = nextOpenings(window(["sunday"], "02:15", "02:45"), "Europe/Berlin", at("2026-03-28T00:00:00Z"), 1);
    expect(iso(found[0]?.opens_at)).toBe("2026-04-05T00:15:00.000Z");
  });

  test("a repeated hour makes a window longer, never two", () => {
    const [first, second] = nextOpenings(
      window(["sunday"], "01:00", "03:00"),
      "Europe/Berlin",
      at("2026-10-24T12:00:00Z"),
      2,
    );
    expect([iso(first?.opens_at), iso(first?.closes_at)]).toEqual([
      "2026-10-24T23:00:00.000Z",
      "2026-10-25T02:00:00.000Z",
    ]);
    expect(iso(second?.opens_at)).toBe("2026-11-01T00:00:00.000Z");
  });
});
