import type { Message } from "../messages/types.ts";

/** What a failed container wrote last. */
export interface LastLog {
  /** The same for every log about the same container of the target: a later one replaces an earlier one. */
  key: string;
  /** The pod that was read; blank if the runtime has no pods. */
  pod: string;
  container: string;
  /** Written before its last restart. */
  is_previous: boolean;
  /** As the container wrote it; the runtime bounds its size, the caller cleans and masks it. Null if it could not be read. */
  text: string | null;
  /** Why it could not be read; null if it could. */
  why: Message | null;
  /** Values from its configuration that must not be shown, the most revealing ones last. */
  secrets: readonly string[];
}

/** Of one container; larger than the last lines of any that a person wants to read. */
export const maxLogBytes = 512 * 1024;
/** How many lines of a container are read and shown. */
export const lastLogLines = 20;
/** Containers of one run whose logs are read. */
export const maxLogs = 4;

/** One line, unchanged. */
export interface LogLine {
  /**
   * When, as the runtime reports it: `2026-11-26T12:06:25.953476274Z`, always with nine digits after the point, so that texts compare like
   * times. Blank if it does not report it.
   */
  at: string;
  text: string;
}

export interface LogReading {
  /** Initially, at most this many of the last lines. */
  tail: number;
  /** Of these, those of this second and later ones, in seconds since 1970; null for all. */
  since: number | null;
  /** Continues with new lines until the container ends. */
  follow: boolean;
  /** Ends the reading, without an error. */
  signal: AbortSignal;
}

/** One container of a target, whose log can be read. */
export interface LogPart {
  /** The same after a restart or an update of the container, as far as it keeps its name. */
  key: string;
  service: string;
  /** Blank if the runtime has no pods. */
  pod: string;
  container: string;
  /** `starting`: it has not written anything yet. */
  state: "running" | "starting" | "stopped";
  /** Another text for each start of the container. */
  start: string;
  /** Why its log can never be read; null if no reason is known. */
  unreadable: Message | null;
  /** Values from its configuration that must not be shown. */
  secrets: readonly string[];
  /** Yields lines as they arrive. Throws `unauthorized` for a missing right, and no error says anything about the connection. */
  read(reading: LogReading): AsyncIterable<readonly LogLine[]>;
}
