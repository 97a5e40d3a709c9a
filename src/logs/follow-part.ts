import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { type Message, toldAs } from "../messages/message.ts";
import type { LogLine, LogPart } from "../runtimes/logs.ts";
import { type LogMark, linesAfter, markAfter, missedSince, secondBefore } from "./marks.ts";
import { isRefusal, maxMissed, readPresent, startingUp } from "./reading.ts";
import type { LogPartView } from "./schema.ts";

/** Lines and characters of a container that wait for their turn; the earliest ones give way. */
const maxWaiting = 500;
const maxWaitingChars = 262_144;
/** After a log ended, could not be read, or was refused. */
const againMs = 1_000;
const refusedAgainMs = 30_000;
/** Readings in a row that end at once and bring nothing although the container runs. */
const maxFailures = 5;
const briefMs = 10_000;

interface PartOptions {
  /** Where an earlier view ended. */
  mark: LogMark | null;
  /** The last lines to begin with. */
  lines: () => number;
  clock: Clock;
  signal: AbortSignal;
  /** Its stream ended: the container may have been stopped. */
  onEnd: () => void;
}

/** Lines that follow each other. */
export interface TakenLines {
  lines: readonly LogLine[];
  /** Lines before them that were left out; null if the number is unknown. */
  skipped: number | null;
  /** The container was started again before them. */
  has_restarted: boolean;
}

type PartState = Pick<LogPartView, "state"> & { why: Message | null };

/** `is_after_gap`: lines before it may be missing. */
type WaitingLine = LogLine & { is_after_gap?: boolean };

export type PartFollower = ReturnType<typeof followPart>;

export function viewOfPart(part: LogPart, { state, why }: PartState): LogPartView {
  const { key: name, service, pod, container } = part;
  return { name, service, pod, container, state, ...toldAs("why", why) };
}

/** What is known of a container before its log was read. */
export function firstState({ state, unreadable }: LogPart): PartState {
  if (unreadable !== null) return { state: "waiting", why: unreadable };
  if (state === "starting") return { state: "waiting", why: startingUp };
  return { state: state === "stopped" ? "stopped" : "waiting", why: null };
}

/** Reads the log of one container as it is written, across restarts; lines wait until they are taken. */
export function followPart(first: LogPart, { mark: from, lines: wantedLines, clock, signal, onEnd }: PartOptions) {
  let part = first;
  let state = firstState(first);
  let mark = from;
  /** What it had at the beginning, taken at once. */
  let beginning: readonly LogLine[] = [];
  const waiting: WaitingLine[] = [];
  let waitingChars = 0;
  let skipped = 0;
  let hasRestarted = false;
  /** The start up to whose end it was read. */
  let readStart: string | null = null;
  let isRead = false;
  let isGone = false;
  let againAt = 0;
  let failures = 0;

  const keep = (lines: readonly LogLine[], hasGap: boolean) => {
    mark = markAfter(mark, lines);
    for (const [at, line] of lines.entries()) {
      waiting.push(hasGap && at === 0 ? { ...line, is_after_gap: true } : line);
      waitingChars += line.text.length;
    }
    let surplus = 0;
    while (waiting.length - surplus > maxWaiting || waitingChars > maxWaitingChars) {
      waitingChars -= waiting[surplus]?.text.length ?? 0;
      surplus += 1;
    }
    waiting.splice(0, surplus);
    skipped += surplus;
  };
  /** Reads what the log has and was not read before. */
  const catchUp = async (): Promise<void> => {
    let mayMiss = mark !== null;
    if (mark === null) {
      beginning = await readPresent(part, { tail: wantedLines(), since: null, signal }, clock);
      mark = markAfter(null, beginning);
      // Of the lines with that time, some may have been left out: they would be taken for new ones.
      mayMiss = mark !== null && beginning[0]?.at === mark.at;
    }
    if (!mayMiss || mark === null) return;
    const present = await readPresent(part, { tail: maxMissed, since: secondBefore(mark), signal }, clock);
    const missed = missedSince(mark, present);
    mark = missed.from;
    keep(missed.lines, missed.hasGap);
  };
  /** Goes on with what is written; returns whether there was anything, once the stream ends. */
  const goOn = async (): Promise<boolean> => {
    const after = mark === null ? null : linesAfter(mark);
    const since = mark === null ? null : secondBefore(mark);
    let isFruitful = false;
    for await (const taken of part.read({ tail: maxMissed, since, follow: true, signal })) {
      if (signal.aborted) break;
      const lines = after === null ? taken : taken.filter(after.isNew);
      if (lines.length === 0) continue;
      keep(lines, !isFruitful && after?.hasGap() === true);
      isFruitful = true;
    }
    return isFruitful;
  };
  const attend = async (): Promise<void> => {
    const { start, state: runState } = part;
    const begun = clock.elapsed();
    try {
      await catchUp();
      state = { state: runState === "running" ? "running" : "stopped", why: null };
      if (runState !== "running") {
        readStart = start;
        return;
      }
      const isFruitful = await goOn();
      failures = isFruitful || clock.elapsed() - begun >= briefMs ? 0 : failures + 1;
      againAt = clock.elapsed() + againMs;
      onEnd();
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof PluginError)) throw error;
      state = { state: "waiting", why: error.said };
      const isRefused = isRefusal(error);
      if (!isRefused) failures += 1;
      againAt = clock.elapsed() + (isRefused ? refusedAgainMs : againMs);
      // Removed meanwhile.
      if (error.code === "not_found") onEnd();
    }
  };
  /** Lines without a gap between them, at most so many. */
  const takeWaiting = (count: number): readonly WaitingLine[] => {
    const gap = waiting.findIndex(({ is_after_gap }, index) => is_after_gap === true && index > 0);
    const taken = waiting.splice(0, gap === -1 ? count : Math.min(count, gap));
    for (const { text } of taken) waitingChars -= text.length;
    return taken;
  };

  return {
    view: (): LogPartView => viewOfPart(part, state),
    /** Lines that wait. */
    waiting: (): number => waiting.length,
    /** As it was listed; null if it was not. */
    update: (listed: LogPart | null): void => {
      isGone = listed === null;
      if (listed === null) return;
      const isSame = part.start === listed.start;
      if (!isSame) {
        hasRestarted = true;
        failures = 0;
      }
      // What was refused stays so until it is tried again.
      const isNews = !isSame || part.state !== listed.state;
      if (isNews && (listed.state !== "running" || listed.unreadable !== null)) state = firstState(listed);
      part = listed;
    },
    /** Whether it is no longer listed, and all of it was taken. */
    isOver: (): boolean => isGone && !isRead && waiting.length === 0 && beginning.length === 0,
    /** Its name, if it cannot be read any more although it runs. */
    lost: (): string | null => (!isGone && part.state === "running" && failures >= maxFailures ? part.container : null),
    /** Begins to read, unless it is being read or there is nothing to read; rejects only for a fault of ours. */
    attend: async (): Promise<void> => {
      if (isRead || isGone || part.unreadable !== null || part.state === "starting") return;
      if (againAt > clock.elapsed() || (part.state !== "running" && readStart === part.start)) return;
      isRead = true;
      try {
        await attend();
      } finally {
        isRead = false;
      }
    },
    /** The next lines: those that it had at the beginning, or at most `count`. Null if there is nothing to tell. */
    take: (count: number): TakenLines | null => {
      // What was left out lies behind the first lines.
      const isBeginning = beginning.length > 0;
      const lines: readonly WaitingLine[] = isBeginning ? beginning : takeWaiting(count);
      if (lines.length === 0 && !hasRestarted) return null;
      const taken = {
        lines,
        skipped: lines[0]?.is_after_gap === true ? null : isBeginning ? 0 : skipped,
        has_restarted: hasRestarted,
      };
      if (!isBeginning) skipped = 0;
      beginning = [];
      hasRestarted = false;
      return taken;
    },
  };
}
