import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Another date and zone under which the fast layer has to pass as it does today. */
export interface FakedDate {
  title: string;
  zone: string;
  /** Milliseconds that the system's clock is moved by, for a process that starts at `now`. */
  offsetMs(now: number): number;
  /** How long a process must last for the test to have met what it is about. */
  leastMs: number;
  /** Which files it takes, by their text; null: all of them. */
  files: RegExp | null;
}

const yearMs = 365 * 86_400_000;
/** In Berlin the hour from 2:00 to 3:00 comes twice on this night. */
const clocksGoBackAt = Date.UTC(2028, 9, 29, 1);
/** Before the change: enough for the first files, and far less than the layer takes. */
const leadMs = 60_000;

/** What deals with dates and zones itself; that the rest does not depend on today, the other date shows already. */
const dated = /new Date\(|Date\.(UTC|parse|now)|[Zz]one|toISOString|Temporal|Intl|weekday|[Ww]indow|schedule|cron/;

export const fakedDates: readonly FakedDate[] = [
  { title: "two years ahead, in Apia", zone: "Pacific/Apia", offsetMs: () => 2 * yearMs, leastMs: 0, files: dated },
  {
    title: "while Berlin's clocks go back",
    zone: "Europe/Berlin",
    offsetMs: (now) => clocksGoBackAt - leadMs - now,
    leastMs: leadMs,
    files: null,
  },
];

/** Debian keeps it in the folder of the machine's own architecture. */
function findLibrary(): string | null {
  const folders = existsSync("/usr/lib") ? readdirSync("/usr/lib") : [];
  const files = folders.map((folder) => join("/usr/lib", folder, "faketime/libfaketimeMT.so.1"));
  return files.find((file) => existsSync(file)) ?? null;
}

/**
 * What a process is started with to live at another date, its children too. An offset and no instant, so that those started later
 * are not back at the beginning. What measures durations is left alone.
 */
export function fakedEnvironment({ zone, offsetMs }: FakedDate): Record<string, string> {
  const seconds = Math.round(offsetMs(Date.now()) / 1000);
  return {
    LD_PRELOAD: findLibrary() ?? "",
    FAKETIME: `${seconds < 0 ? "" : "+"}${seconds}`,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    TZ: zone,
  };
}

/** What a process is started with whose clock is off by what `file` says in seconds, "+0" being right, whenever it looks. */
export function settableClock(file: string): Record<string, string> {
  return {
    LD_PRELOAD: findLibrary() ?? "",
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}

/** Why this machine cannot pretend another date, or null when it can: shown by a process of Bun. */
export function fakedDatesMissing(): string | null {
  if (findLibrary() === null) return "libfaketime is missing (apt-get install libfaketime)";
  for (const date of fakedDates) {
    const env = { ...process.env, ...fakedEnvironment(date) };
    const found = spawnSync(process.execPath, ["-e", "console.log(Date.now())"], { env, encoding: "utf8" });
    const error = Math.abs(Number(found.stdout) - Date.now() - date.offsetMs(Date.now()));
    if (found.status !== 0 || !(error < leadMs)) return `libfaketime does not change the date of Bun: ${found.stdout}`;
  }
  return null;
}
