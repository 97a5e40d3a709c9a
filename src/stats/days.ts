import { RecentMap } from "../recent-map.ts";

const hourMs = 3_600_000;
const maxFormatters = 16;
const formatters = new RecentMap<string, Intl.DateTimeFormat>(maxFormatters);

/** The calendar date of an instant in a zone, as a text that differs from day to day. */
function dateOf(zone: string, instant: number): string {
  let format = formatters.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, year: "numeric", month: "numeric", day: "numeric" });
    formatters.set(zone, format);
  }
  return format.format(instant);
}

/** The first instant of the calendar day of `instant`; days begin on a whole second. */
function startOfDay(zone: string, instant: number): number {
  const date = dateOf(zone, instant);
  // No day is longer than 26 hours: clock changes are of an hour or two.
  let before = Math.floor((instant - 27 * hourMs) / 1000);
  let within = Math.floor(instant / 1000);
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (dateOf(zone, middle * 1000) === date) within = middle;
    else before = middle;
  }
  return within * 1000;
}

let kept: { key: string; starts: readonly number[] } | null = null;

/** The first instants of the last `count` calendar days of a zone, today last. Cached until the day changes. */
export function dayStarts(zone: string, now: number, count: number): readonly number[] {
  const key = `${zone} ${dateOf(zone, now)} ${count}`;
  if (kept?.key === key) return kept.starts;
  const starts: number[] = [];
  for (let at = now; starts.length < count; at = (starts[0] ?? at) - 1) starts.unshift(startOfDay(zone, at));
  kept = { key, starts };
  return starts;
}
