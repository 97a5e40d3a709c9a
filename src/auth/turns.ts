import type { Clock } from "../clock.ts";
import { tooManyRequests } from "../errors.ts";
import { say } from "../messages/message.ts";

// Four hashes run at once (`secrets/password.ts`); two are always reserved for familiar clients.
const AT_ONCE = 2;
// Bounds a burst from many addresses: 200 comparisons of 30 ms, two at a time, take 3 s.
const MAXIMUM_WAITING = 200;
const LONGEST_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 2;

/** Ends a turn; call it once. */
export type EndTurn = () => void;

interface Waiting {
  isFirst: boolean;
  admit(): void;
  refuse(error: Error): void;
}

function busy(): Error {
  return tooManyRequests(say("auth.too_many_checks"), RETRY_AFTER_SECONDS);
}

/**
 * Compares strangers' passwords two at a time. The others wait: clients on their first try go first, each group in order of arrival, so
 * neither many addresses at once nor one that keeps trying blocks a first try. `take` throws 429 when too many wait, or after 10 s.
 */
export function createTurns(clock: Clock): { take(isFirst: boolean): Promise<EndTurn> } {
  let running = 0;
  const waiting: Waiting[] = [];

  const end = () => {
    const next = waiting.find(({ isFirst }) => isFirst) ?? waiting[0];
    if (next === undefined) running -= 1;
    // A finished turn hands its place over.
    else next.admit();
  };
  const leave = (entry: Waiting) => {
    const index = waiting.indexOf(entry);
    if (index !== -1) waiting.splice(index, 1);
  };
  const makeRoom = (isFirst: boolean) => {
    if (waiting.length < MAXIMUM_WAITING) return;
    const last = isFirst ? waiting.findLast((entry) => !entry.isFirst) : undefined;
    if (last === undefined) throw busy();
    last.refuse(busy());
  };

  const wait = (isFirst: boolean): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = new AbortController();
    const settle = (entry: Waiting) => {
      leave(entry);
      timer.abort();
    };
    const entry: Waiting = {
      isFirst,
      admit: () => {
        settle(entry);
        resolve();
      },
      refuse: (error) => {
        settle(entry);
        reject(error);
      },
    };
    waiting.push(entry);
    clock.sleep(LONGEST_WAIT_MS, timer.signal).then(
      () => entry.refuse(busy()),
      () => undefined, // its turn came first
    );
    return promise;
  };

  return {
    take: async (isFirst) => {
      if (running < AT_ONCE) running += 1;
      else {
        makeRoom(isFirst);
        await wait(isFirst);
      }
      let isOpen = true;
      return () => {
        if (!isOpen) throw new Error("A turn was ended twice");
        isOpen = false;
        end();
      };
    },
  };
}
