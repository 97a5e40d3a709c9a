import { RecentMap } from "../recent-map.ts";
// Maintenance windows in wall-clock time of a named zone. Pure: the caller passes the instant and the zone; each zone's rules come from
// Intl alone.

export const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export type Weekday = (typeof weekdays)[number];

export interface Window {
  days: readonly Weekday[];
  /** `HH:MM`, inclusive. */
  start: string;
  /** `HH:MM`, exclusive; not after `start` means the next day; equal to it means the whole calendar day. */
  end: string;
}

/** One opening of a window, in milliseconds UTC; `closes_at` is exclusive. */
export interface Opening {
  opens_at: number;
  closes_at: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The largest shift of a clock change (Apia skipped a day) plus the largest offset from UTC. */
const changeHorizonMs = 39 * hourMs;
/** A weekly window opens within this many days, even if clock changes skip it several weeks in a row. */
const searchDays = 60;
const maxFormatters = 16;

const formatters = new RecentMap<string, Intl.DateTimeFormat>(maxFormatters);

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formatters.set(zone, made);
  return made;
}

/** Days since 1970-01-01 of a Gregorian date (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
function dayNumber(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** What the zone's clocks show at an instant, as if it were UTC. */
function wallClock(zone: string, instant: number): number {
  const parts: Record<string, number> = {};
  for (const part of formatterOf(zone).formatToParts(instant)) parts[part.type] = Number(part.value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return dayNumber(year, month, day) * dayMs + hour * hourMs + minute * minuteMs + second * 1000;
}

function offsetAt(zone: string, instant: number): number {
  return wallClock(zone, instant) - Math.floor(instant / 1000) * 1000;
}

/** The first instant in (from, to] whose offset differs from that of `from`, to the second. */
function changeBetween(zone: string, from: number, to: number): number {
  const before = offsetAt(zone, from);
  let low = Math.floor(from / 1000);
  let high = Math.ceil(to / 1000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle * 1000) === before) low = middle;
    else high = middle;
  }
  return high * 1000;
}

/**
 * When the zone's clocks show a wall-clock time: its first occurrence not before `notBefore` if a change repeats it, and the instant of the
 * change if one skips it.
 */
function instantOf(zone: string, wall: number, notBefore = Number.NEGATIVE_INFINITY): number {
  const offsets = [...new Set([offsetAt(zone, wall - changeHorizonMs), offsetAt(zone, wall + changeHorizonMs)])];
  const shown = offsets
    .map((offset) => wall - offset)
    .filter((instant) => wallClock(zone, instant) === wall)
    .toSorted((a, b) => a - b);
  const found = shown.find((instant) => instant >= notBefore);
  if (found !== undefined) return found;
  const last = shown.at(-1);
  if (last !== undefined) return last;
  return changeBetween(zone, wall - Math.max(...offsets), wall - Math.min(...offsets));
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

function weekdayOf(day: number): Weekday {
  // 1970-01-01 was a Thursday.
  return weekdays[(((day + 3) % 7) + 7) % 7] ?? "monday";
}

/** The opening that belongs to a start day; null on other weekdays, or if a clock change skips it. */
function openingOn(window: Window, zone: string, day: number): Opening | null {
  if (!window.days.includes(weekdayOf(day))) return null;
  const midnight = day * dayMs;
  // A day that the zone skips has no window.
  if (Math.floor(wallClock(zone, instantOf(zone, midnight + dayMs / 2)) / dayMs) !== day) return null;
  const start = minutesOf(window.start);
  const end = minutesOf(window.end);
  const isWholeDay = start === end;
  const opens_at = instantOf(zone, isWholeDay ? midnight : midnight + start * minuteMs);
  const endWall = isWholeDay ? midnight + dayMs : midnight + end * minuteMs + (end < start ? dayMs : 0);
  const closes_at = instantOf(zone, endWall, opens_at);
  return closes_at > opens_at ? { opens_at, closes_at } : null;
}

/** The current opening, or null. A window belongs to its start day: Monday 22:00 to 02:00 covers Tuesday 01:00. */
export function currentOpening(window: Window, zone: string, now: number): Opening | null {
  const today = Math.floor(wallClock(zone, now) / dayMs);
  for (const day of [today, today - 1, today - 2]) {
    const opening = openingOn(window, zone, day);
    if (opening !== null && opening.opens_at <= now && now < opening.closes_at) return opening;
  }
  return null;
}

/** The next openings that begin after `now`, nearest first. */
export function nextOpenings(window: Window, zone: string, now: number, count: number): Opening[] {
  const today = Math.floor(wallClock(zone, now) / dayMs);
  const found: Opening[] = [];
  for (let day = today - 1; day <= today + searchDays && found.length < count; day++) {
    const opening = openingOn(window, zone, day);
    if (opening !== null && opening.opens_at > now) found.push(opening);
  }
  return found;
}
