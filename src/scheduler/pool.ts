import type { Log } from "../log.ts";
import { withinWorkBudget } from "../work-budget.ts";

/**
 * One kind of due work. `due` only reads, `perform` claims: an item that another process has, or that is no longer due, does nothing.
 * Members are methods, so that kinds with different items fit in one list.
 */
export interface WorkSource<T extends { id: string } = { id: string }> {
  name: string;
  /** How many in parallel. */
  concurrency: number;
  /** How many in parallel per key: a host, a notifier. An item may have a stricter limit. */
  per_key: number;
  perKeyOf?(item: T): number;
  /** At the end of the process: `abort` cuts it short and it is due again, `wait` lets it finish. */
  on_stop?: "abort" | "wait";
  /** At most `limit` items due at `now`, the most urgent first; those of `busyKeys` may be left out. */
  due(now: number, limit: number, busyKeys?: readonly string[]): Promise<readonly T[]>;
  keyOf(item: T): string;
  /**
   * `leave` frees the item's slot while it finishes, for work that remains after upstream has responded. A stop still waits for it.
   */
  perform(item: T, signal: AbortSignal, leave: () => void): Promise<void>;
}

export interface Pool {
  /** Starts what is due at `now`, as far as slots are free; each item once, until the next outside `fill`. */
  fill(now: number): Promise<void>;
  /** Resolves when nothing is running and nothing is about to start. */
  idle(): Promise<void>;
  /** Starts nothing more; running items are aborted or awaited as their kind says. */
  stop(): void;
  running(): number;
}

interface PoolOptions {
  work: WorkSource;
  log: Log;
}

/** Unfinished items per slot that they already freed: a slow database delays the next items. */
const leftPerPlace = 4;
/** How many items are listed ahead, so that short ones do not need a query each. */
const lookAhead = 32;

/** Runs one kind of work within its limits. Errors are logged and end only their own item. */
export function createPool({ work, log }: PoolOptions): Pool {
  const running = new Map<string, Promise<void>>();
  /** Items with a slot: their key, and its limit. */
  const places = new Map<string, { key: string; limit: number }>();
  const abort = new AbortController();
  /** Started since the last outside `fill`: an item whose claim fails is still due and must not be retried in a loop. */
  const started = new Set<string>();
  /** Listed as due and not yet started. */
  let listed: readonly { id: string }[] = [];
  /** The last query found nothing due besides these keys: while all of them are busy, another query is useless. */
  let exhausted: readonly string[] | null = null;
  let fills = 0;
  let filling: Promise<void> | null = null;
  let isWanted = false;
  let isStopped = false;
  let now = 0;

  const limitOf = (item: { id: string }) => Math.min(work.per_key, work.perKeyOf?.(item) ?? work.per_key);
  const hasRoom = (key: string, limit: number): boolean => {
    const same = [...places.values()].filter((place) => place.key === key);
    return same.length < Math.min(limit, ...same.map((place) => place.limit));
  };
  const busyKeys = () => {
    const keys = new Set([...places.values()].map(({ key }) => key));
    return [...keys].filter((key) => !hasRoom(key, work.per_key));
  };
  const isFull = () => places.size >= work.concurrency || running.size >= work.concurrency * (1 + leftPerPlace);

  const start = (item: { id: string }, key: string): void => {
    started.add(item.id);
    places.set(item.id, { key, limit: limitOf(item) });
    const leave = () => {
      if (places.delete(item.id) && !isStopped) refill();
    };
    const perform = async () => {
      let makesRoom = true;
      try {
        await withinWorkBudget(() => work.perform(item, abort.signal, leave));
      } catch (error) {
        if (!abort.signal.aborted) log.error("Work failed", { work: work.name, id: item.id, error });
      } finally {
        makesRoom = isFull() || places.has(item.id);
        running.delete(item.id);
        places.delete(item.id);
      }
      // A free slot is filled at once, so that many due items do not wait for a tick each.
      if (makesRoom && !isStopped) refill();
    };
    // A tick later, so that an item that frees its slot at once finds a complete list.
    running.set(item.id, Promise.resolve().then(perform));
  };

  const refill = () => {
    request().catch((error: unknown) => log.error("Due work could not be queried", { work: work.name, error }));
  };

  /** Starts listed items as far as possible and keeps the rest. Returns how many it started. */
  const startListed = (): number => {
    const before = started.size;
    listed = listed.filter((item) => {
      if (running.has(item.id) || started.has(item.id)) return false;
      const key = work.keyOf(item);
      if (isStopped || isFull() || !hasRoom(key, limitOf(item))) return true;
      start(item, key);
      return false;
    });
    return started.size - before;
  };

  /** Starts what one query finds; false when nothing more can be started. */
  const startSome = async (): Promise<boolean> => {
    const free = () => !isStopped && !isFull();
    const count = startListed();
    if (!free()) return false;
    if (count > 0) return true;
    const busy = busyKeys();
    if (exhausted?.every((key) => busy.includes(key))) return false;
    // Allows for running items and those started since the tick, which may be listed again.
    const limit = work.concurrency + running.size + lookAhead;
    const fill = fills;
    const found = await work.due(now, limit, busy);
    const known = new Set(listed.map((item) => item.id));
    // Items that wait for their key stay listed for when it is free.
    listed = [...listed, ...found.filter((item) => !known.has(item.id))];
    const begun = startListed();
    // A later `fill` queries a later moment.
    if (begun === 0 && fill === fills) exhausted = busy;
    return begun > 0 && free();
  };

  const startDue = async (): Promise<void> => {
    let isAgain = true;
    // One query may list a single busy key; the next excludes it.
    while (isAgain) isAgain = await startSome();
  };

  const request = (): Promise<void> => {
    isWanted = true;
    filling ??= (async () => {
      try {
        while (isWanted) {
          isWanted = false;
          await startDue();
        }
      } finally {
        filling = null;
      }
    })();
    return filling;
  };

  return {
    fill: async (at) => {
      now = at;
      started.clear();
      listed = [];
      exhausted = null;
      fills += 1;
      await request();
    },
    idle: async () => {
      while (running.size > 0 || filling !== null) {
        await Promise.allSettled([filling, ...running.values()]);
      }
    },
    stop: () => {
      isStopped = true;
      if (work.on_stop !== "wait") abort.abort(new Error("The process is ending"));
    },
    running: () => running.size,
  };
}
