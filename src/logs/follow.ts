import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { type Message, say, toldAs } from "../messages/message.ts";
import type { LogLine, LogPart } from "../runtimes/runtime.ts";
import { type LogMark, linesAfter, markAfter, missedSince, secondBefore } from "./marks.ts";
import type { LogMasker } from "./mask.ts";
import { isRefusal, maxMissed, readPresent, startingUp } from "./reading.ts";
import { type LogNews, type LogPartView, maxParts } from "./schema.ts";
import { sharesOf } from "./shares.ts";

/** How long a view lasts: somebody who still reads continues it. */
export const longestMs = 15 * 60_000;
/** How often lines are shown, and how many of all containers together. */
const tickMs = 200;
const linesPerTick = 40;
/** Lines and characters of a container that wait for their turn; the earliest ones give way. */
const maxWaiting = 500;
const maxWaitingChars = 262_144;
/** How often the containers are listed: to find what was started, stopped, added or removed. */
const listMs = 2_000;
/** After a log ended, could not be read, or was refused. */
const againMs = 1_000;
const refusedAgainMs = 30_000;
/** Readings in a row that end at once and bring nothing although the container runs. */
const maxFailures = 5;
const briefMs = 10_000;
/** Listings in a row that fail, and how long a target may be missing: an update replaces it. */
const maxListFailures = 3;
const missingMs = 30_000;

interface FollowOptions {
  /** Throws `not_found` if the target is gone. */
  list: () => Promise<readonly LogPart[]>;
  isChosen: (part: Pick<LogPart, "key">) => boolean;
  /** The last lines to begin with, of each of so many containers. */
  linesOf: (parts: number) => number;
  /** Where the view goes on, by the containers' keys. */
  marks: ReadonlyMap<string, LogMark>;
  mask: { learn(secrets: readonly string[]): void; masker(): LogMasker };
  clock: Clock;
  signal: AbortSignal;
}

/** `is_after_gap`: lines before it may be missing. */
type Waiting = LogLine & { is_after_gap?: boolean };

interface Following {
  part: LogPart;
  mark: LogMark | null;
  view: Pick<LogPartView, "state"> & { why: Message | null };
  show: LogMasker;
  /** What it had at the beginning, shown at once. */
  first: readonly LogLine[];
  waiting: Waiting[];
  waitingChars: number;
  /** Lines before those that wait, which were left out. */
  skipped: number;
  has_restarted: boolean;
  /** The start up to whose end it was read. */
  readStart: string | null;
  is_read: boolean;
  is_gone: boolean;
  again_at: number;
  failures: number;
}

export function viewOfPart(part: LogPart, { state, why }: Following["view"]): LogPartView {
  const { key: name, service, pod, container } = part;
  return { name, service, pod, container, state, ...toldAs("why", why) };
}

/** What is known of a container before its log was read. */
export function firstView({ state, unreadable }: LogPart): Following["view"] {
  if (unreadable !== null) return { state: "waiting", why: unreadable };
  if (state === "starting") return { state: "waiting", why: startingUp };
  return { state: state === "stopped" ? "stopped" : "waiting", why: null };
}

/**
 * Follows the logs of a target until `signal` is aborted or it ends by itself:
 * 1. List the containers, every two seconds.
 * 2. Of each, read what it has, or what was missed since its mark; then follow it. A log that ends is taken up again at its mark.
 * 3. Five times a second, tell what changed of their states, and show a share of the waiting lines of each, masked.
 * 4. End when time is up, or the containers cannot be listed, or one that runs cannot be read any more.
 * `marks` tell how far each was shown; they are current whenever something was yielded.
 */
export function followLogs(options: FollowOptions): {
  news: AsyncGenerator<LogNews>;
  marks: ReadonlyMap<string, LogMark>;
} {
  const { clock, mask, isChosen } = options;
  const ended = new AbortController();
  const stop = AbortSignal.any([options.signal, ended.signal]);
  const shown = new Map(options.marks);
  const all = new Map<string, Following>();
  let more = 0;
  let listing: Promise<void> | null = null;
  let isListed = false;
  let listAt = 0;
  let listFailures = 0;
  let missingSince: number | null = null;
  let end: Message | null = null;

  const begin = (part: LogPart): Following => ({
    part,
    // It may have been missing for a while.
    mark: shown.get(part.key) ?? null,
    view: firstView(part),
    show: mask.masker(),
    ...{ first: [], waiting: [], waitingChars: 0, skipped: 0, has_restarted: false, readStart: null },
    ...{ is_read: false, is_gone: false, again_at: 0, failures: 0 },
  });
  const takeListed = (parts: readonly LogPart[]) => {
    const chosen = parts.filter(isChosen);
    more = Math.max(0, chosen.length - maxParts);
    for (const each of all.values()) each.is_gone = true;
    for (const part of chosen.slice(0, maxParts)) {
      mask.learn(part.secrets);
      const known = all.get(part.key);
      if (known === undefined) {
        all.set(part.key, begin(part));
        continue;
      }
      const isSame = known.part.start === part.start;
      known.has_restarted ||= !isSame;
      if (!isSame) known.failures = 0;
      // What was refused is known to be refused until it is tried again.
      if (!isSame || part.state !== known.part.state) {
        if (part.state !== "running" || part.unreadable !== null) known.view = firstView(part);
      }
      known.part = part;
      known.is_gone = false;
    }
  };
  const list = async (): Promise<void> => {
    try {
      takeListed(await options.list());
      listFailures = 0;
      missingSince = null;
      isListed = true;
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof PluginError)) throw error;
      if (error.code === "not_found" && isListed) {
        missingSince ??= clock.elapsed();
        for (const each of all.values()) each.is_gone = true;
        if (clock.elapsed() - missingSince >= missingMs) end = say("logs.ended_by_target");
        return;
      }
      listFailures += 1;
      if (listFailures >= maxListFailures || !isListed) end = say("logs.ended_by_runtime", { cause: error.said });
    }
  };
  const keep = (each: Following, lines: readonly LogLine[], hasGap: boolean) => {
    each.mark = markAfter(each.mark, lines);
    for (const [at, line] of lines.entries()) {
      each.waiting.push(hasGap && at === 0 ? { ...line, is_after_gap: true } : line);
      each.waitingChars += line.text.length;
    }
    let surplus = Math.max(0, each.waiting.length - maxWaiting);
    let chars = each.waiting.slice(0, surplus).reduce((sum, { text }) => sum + text.length, 0);
    while (each.waitingChars - chars > maxWaitingChars) {
      chars += each.waiting[surplus]?.text.length ?? 0;
      surplus += 1;
    }
    each.waiting.splice(0, surplus);
    each.waitingChars -= chars;
    each.skipped += surplus;
  };
  /** The lines that the log has and the view has not. */
  const catchUp = async (each: Following, part: LogPart): Promise<void> => {
    let mayMiss = each.mark !== null;
    if (each.mark === null) {
      const tail = options.linesOf(all.size);
      each.first = await readPresent(part, { tail, since: null, signal: stop }, clock);
      each.mark = markAfter(null, each.first);
      // Of the lines with that time, some may have been left out: they would be taken for new ones.
      mayMiss = each.mark !== null && each.first[0]?.at === each.mark.at;
    }
    if (!mayMiss || each.mark === null) return;
    const wanted = { tail: maxMissed, since: secondBefore(each.mark), signal: stop };
    const missed = missedSince(each.mark, await readPresent(part, wanted, clock));
    each.mark = missed.from;
    keep(each, missed.lines, missed.hasGap);
  };
  const attend = async (each: Following): Promise<void> => {
    const { part } = each;
    const begun = clock.elapsed();
    let isFruitful = false;
    try {
      await catchUp(each, part);
      each.view = { state: part.state === "running" ? "running" : "stopped", why: null };
      if (part.state !== "running") {
        each.readStart = part.start;
        return;
      }
      const { mark } = each;
      const after = mark === null ? null : linesAfter(mark);
      const from = { tail: maxMissed, since: mark === null ? null : secondBefore(mark) };
      for await (const taken of part.read({ ...from, follow: true, signal: stop })) {
        if (stop.aborted) return;
        const lines = after === null ? taken : taken.filter(after.isNew);
        if (lines.length === 0) continue;
        keep(each, lines, !isFruitful && after?.hasGap() === true);
        isFruitful = true;
      }
      // It may have been stopped: the next listing shows that.
      listAt = 0;
      fail(each, isFruitful || clock.elapsed() - begun >= briefMs, null);
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof PluginError)) throw error;
      if (isRefusal(error)) {
        each.view = { state: "waiting", why: error.said };
        each.again_at = clock.elapsed() + refusedAgainMs;
        return;
      }
      // Removed meanwhile.
      if (error.code === "not_found") listAt = 0;
      fail(each, isFruitful, error.said);
    }
  };
  const fail = (each: Following, wasFruitful: boolean, why: Message | null) => {
    each.failures = wasFruitful ? 0 : each.failures + 1;
    each.again_at = clock.elapsed() + againMs;
    if (why !== null) each.view = { state: "waiting", why };
  };
  const readsNow = ({ part, is_read, again_at, readStart }: Following): boolean =>
    !is_read &&
    part.unreadable === null &&
    part.state !== "starting" &&
    again_at <= clock.elapsed() &&
    (part.state === "running" || readStart !== part.start);
  /** Our own faults end the view. */
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined);
  const start = (each: Following) => {
    each.is_read = true;
    attend(each)
      .catch(broken.reject)
      .finally(() => {
        each.is_read = false;
      });
  };
  const settle = () => {
    for (const [key, each] of all) {
      if (each.is_gone && !each.is_read && each.waiting.length === 0 && each.first.length === 0) all.delete(key);
      else if (!each.is_gone && readsNow(each)) start(each);
    }
    const lost = [...all.values()].find(
      ({ part, failures, is_gone }) => !is_gone && part.state === "running" && failures >= maxFailures,
    );
    if (lost !== undefined) end ??= say("logs.ended_by_cut", { name: lost.part.container });
  };
  const views = () => [...all.values()].map(({ part, view }) => viewOfPart(part, view));

  async function* take(): AsyncGenerator<LogNews> {
    const each = [...all.values()];
    const shares = sharesOf(
      each.map(({ waiting }) => waiting.length),
      linesPerTick,
    );
    for (const [at, following] of each.entries()) {
      const { has_restarted, part, view, first } = following;
      // What was left out lies behind the first lines.
      const isFirst = first.length > 0;
      const taken: readonly Waiting[] = isFirst ? first : takeWaiting(following, shares[at] ?? 0);
      if (taken.length === 0 && !has_restarted) continue;
      const skipped = isFirst ? 0 : following.skipped;
      const isUnknown = taken[0]?.is_after_gap === true;
      following.first = [];
      following.skipped -= skipped;
      following.has_restarted = false;
      const lines = await following.show(taken, isUnknown || skipped > 0);
      const mark = markAfter(shown.get(part.key) ?? null, taken);
      if (mark !== null) shown.set(part.key, mark);
      yield {
        ...{ kind: "lines", part: viewOfPart(part, view), lines, has_restarted },
        skipped: isUnknown ? null : skipped,
      };
    }
  }
  /** Lines without a gap between them. */
  const takeWaiting = (following: Following, share: number): readonly Waiting[] => {
    const { waiting } = following;
    const gap = waiting.findIndex(({ is_after_gap }, index) => is_after_gap === true && index > 0);
    const taken = waiting.splice(0, gap === -1 ? share : Math.min(share, gap));
    for (const { text } of taken) following.waitingChars -= text.length;
    return taken;
  };
  async function* news(): AsyncGenerator<LogNews> {
    const begun = clock.elapsed();
    let told = "";
    try {
      while (!stop.aborted) {
        if (listing === null && clock.elapsed() >= listAt && end === null) {
          listAt = clock.elapsed() + listMs;
          listing = list()
            .catch(broken.reject)
            .finally(() => {
              listing = null;
            });
        }
        settle();
        const parts = views();
        const text = JSON.stringify([parts, more]);
        if (isListed && text !== told) {
          told = text;
          yield { kind: "parts", parts, more };
        }
        yield* take();
        if (clock.elapsed() - begun >= longestMs) end ??= say("logs.ended_by_time", { minutes: longestMs / 60_000 });
        if (end !== null) return yield { kind: "end", why: end };
        await Promise.race([clock.sleep(tickMs, stop).catch(() => undefined), broken.promise]);
      }
    } finally {
      ended.abort();
    }
  }
  return { news: news(), marks: shown };
}
