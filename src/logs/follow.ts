import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import type { LogPart } from "../runtimes/logs.ts";
import { followPart, type PartFollower } from "./follow-part.ts";
import { type LogMark, markAfter } from "./marks.ts";
import type { LogMasker } from "./mask.ts";
import { type LogNews, maxParts } from "./schema.ts";
import { sharesOf } from "./shares.ts";

/** How long a view lasts: somebody who still reads continues it. */
export const longestMs = 15 * 60_000;
/** How often lines are shown, and how many of all containers together. */
const tickMs = 200;
const linesPerTick = 40;
/** How often the containers are listed: to find what was started, stopped, added or removed. */
const listMs = 2_000;
/** Listings in a row that fail, and how long a target may be missing: an update replaces it. */
const maxListFailures = 3;
const missingMs = 30_000;

interface FollowOptions {
  /** Throws `not_found` if the target is gone. */
  list: () => Promise<readonly LogPart[]>;
  isChosen: (part: Pick<LogPart, "key">) => boolean;
  /** The last lines to begin with, of each of so many containers. */
  linesOf: (parts: number) => number;
  /** Where the view continues, by the containers' keys. */
  marks: ReadonlyMap<string, LogMark>;
  mask: { learn(secrets: readonly string[]): void; masker(): LogMasker };
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Follows the logs of a target until `signal` is aborted or the view ends:
 * 1. List the containers, every two seconds.
 * 2. Of each, read what it has, or what was missed since its mark; then follow it. A log that ends is resumed at its mark.
 * 3. Five times a second, report changed states, and show a share of the waiting lines of each, masked.
 * 4. End when time is up, or the containers cannot be listed, or a running one can no longer be read.
 * `marks` say how far each was shown; they are current whenever something was yielded.
 */
export function followLogs(options: FollowOptions): {
  news: AsyncGenerator<LogNews>;
  marks: ReadonlyMap<string, LogMark>;
} {
  const { clock, mask } = options;
  const ended = new AbortController();
  const stop = AbortSignal.any([options.signal, ended.signal]);
  const shown = new Map(options.marks);
  const all = new Map<string, { follower: PartFollower; show: LogMasker }>();
  const lister = partLister(options, stop);
  /** Our own faults end the view. */
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined);

  const begin = (part: LogPart) => ({
    follower: followPart(part, {
      // It may have been missing for a while.
      mark: shown.get(part.key) ?? null,
      lines: () => options.linesOf(all.size),
      ...{ clock, signal: stop, onEnd: lister.hurry },
    }),
    show: mask.masker(),
  });
  const takeListed = (listed: readonly LogPart[]) => {
    const parts = new Map(listed.map((part) => [part.key, part]));
    for (const [key, { follower }] of all) follower.update(parts.get(key) ?? null);
    for (const part of listed) {
      mask.learn(part.secrets);
      if (!all.has(part.key)) all.set(part.key, begin(part));
    }
  };
  /** Why nothing more follows; null as long as something may. */
  const attendAll = (): Message | null => {
    // A runtime that does not respond is not the fault of a log.
    if (lister.isFailing()) return null;
    for (const [key, { follower }] of all) {
      if (follower.isOver()) all.delete(key);
      else follower.attend().catch(broken.reject);
      const name = follower.lost();
      if (name !== null) return say("logs.ended_by_cut", { name });
    }
    return null;
  };
  async function* take(): AsyncGenerator<LogNews> {
    const each = [...all];
    const waiting = each.map(([, { follower }]) => follower.waiting());
    const shares = sharesOf(waiting, linesPerTick);
    for (const [at, [key, { follower, show }]] of each.entries()) {
      const taken = follower.take(shares[at] ?? 0);
      if (taken === null) continue;
      const { skipped, has_restarted } = taken;
      const lines = await show(taken.lines, skipped !== 0);
      const mark = markAfter(shown.get(key) ?? null, taken.lines);
      if (mark !== null) shown.set(key, mark);
      yield { kind: "lines", part: follower.view(), lines, skipped, has_restarted };
    }
  }
  async function* news(): AsyncGenerator<LogNews> {
    const begun = clock.elapsed();
    let told = "";
    try {
      while (!stop.aborted) {
        lister.tick(takeListed).catch(broken.reject);
        const lost = attendAll();
        const parts = [...all.values()].map(({ follower }) => follower.view());
        const listed = { parts, more: lister.more(), all: lister.names() };
        const text = JSON.stringify(listed);
        if (lister.isListed() && text !== told) {
          told = text;
          yield { kind: "parts", ...listed };
        }
        yield* take();
        const isOver = clock.elapsed() - begun >= longestMs;
        const why =
          lister.end() ?? lost ?? (isOver ? say("logs.ended_by_time", { minutes: longestMs / 60_000 }) : null);
        if (why !== null) return yield { kind: "end", why };
        await Promise.race([clock.sleep(tickMs, stop).catch(() => undefined), broken.promise]);
      }
    } finally {
      ended.abort();
    }
  }
  return { news: news(), marks: shown };
}

/** Lists the containers of a target from time to time, and knows when there is no point in it any more. */
function partLister({ list, isChosen, clock }: FollowOptions, stop: AbortSignal) {
  let isListing = false;
  let isListed = false;
  let nextAt = 0;
  let more = 0;
  let names: readonly string[] = [];
  let failures = 0;
  let missingSince: number | null = null;
  let end: Message | null = null;

  const listOnce = async (take: (parts: readonly LogPart[]) => void): Promise<void> => {
    try {
      const found = await list();
      const chosen = found.filter(isChosen);
      names = found.map(({ key }) => key);
      more = Math.max(0, chosen.length - maxParts);
      take(chosen.slice(0, maxParts));
      failures = 0;
      missingSince = null;
      isListed = true;
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof PluginError)) throw error;
      if (error.code === "not_found" && isListed) {
        missingSince ??= clock.elapsed();
        take([]);
        if (clock.elapsed() - missingSince >= missingMs) end = say("logs.ended_by_target");
        return;
      }
      failures += 1;
      if (failures >= maxListFailures || !isListed) end = say("logs.ended_by_runtime", { cause: error.said });
    }
  };

  return {
    /** Lists them if it is time; `take` gets those that are chosen, none if the target is gone. */
    tick: async (take: (parts: readonly LogPart[]) => void): Promise<void> => {
      if (isListing || end !== null || clock.elapsed() < nextAt) return;
      isListing = true;
      nextAt = clock.elapsed() + listMs;
      try {
        await listOnce(take);
      } finally {
        isListing = false;
      }
    },
    /** Something changed: they are listed at once. */
    hurry: () => {
      nextAt = 0;
    },
    isListed: () => isListed,
    /** Whether the last attempt failed. */
    isFailing: () => failures > 0,
    /** Chosen ones beyond those that can be read. */
    more: () => more,
    /** Of all that can be chosen. */
    names: () => names,
    /** Why they are not listed any more; null as long as they are. */
    end: () => end,
  };
}
