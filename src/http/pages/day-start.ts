import { parseInstant, toIso } from "../../clock.ts";

const dayMs = 24 * 3_600_000;

/** The zone's wall clock at an instant, as if it were UTC. */
function wallClock(zone: string, instant: number): number {
  const parts = new Intl.DateTimeFormat("en-CA", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).formatToParts(instant);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "00";
  const text = `${of("year")}-${of("month")}-${of("day")}T${of("hour")}:${of("minute")}:${of("second")}Z`;
  return parseInstant(text) ?? instant;
}

/**
 * The instant at which a day ("2026-03-29") begins in the zone, as ISO 8601 text, optionally `daysLater` later; null for an invalid day.
 * Where the clocks skip midnight it is the first instant after.
 */
export function dayStart(zone: string, day: string, daysLater = 0): string | null {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(day) ? parseInstant(`${day}T00:00:00Z`) : null;
  // Some runtimes read 30 February as 2 March.
  if (midnight === null || !toIso(midnight).startsWith(day)) return null;
  const wanted = midnight + daysLater * dayMs;
  // Twice: the first guess may have the offset of the other side of a change.
  let instant = wanted - (wallClock(zone, wanted) - wanted);
  instant = wanted - (wallClock(zone, instant) - instant);
  return toIso(instant);
}
