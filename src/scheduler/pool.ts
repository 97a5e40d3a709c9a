import type { Log } from "../log.ts";
import { withinWorkBudget } from "../work-budget.ts";

/**
 * One kind of work that the database says is due. `due` only asks, `perform` claims: an item that another process has, or that
 * is not due any more, does nothing. Members are methods, so that kinds with different items stand in one list.
 */
export interface WorkSource<T extends { id: string } = { id: string }> {
  name: string;
  /** How many at once. */
  concurrency: number;
  /** How many at once of one key: a host, a notifier. An item may be stricter about its own key. */
  per_key: number;
  perKeyOf?(item: T): number;
  /** At the end of the process: `abort` cuts it short and it is due again, `wait` lets it come to its end. */
  on_stop?: "abort" | "wait";
  /** At most `limit` items that are due at `now`, the most urgent first; those of `busyKeys` may be left out. */
  due(now: number, limit: number, busyKeys?: readonly string[]): Promise<readonly T[]>;
  keyOf(item: T): string;
  /**
   * `leave` gives the item's place to the next one while the item comes to its end: for what is left when the outside world has
   * answered. What has left is still waited for at a stop.
   */
  perform(item: T, signal: AbortSignal, leave: () => void): Promise<void>;
}

export interface Pool {
  /** Starts what is due at `now`, as far as there is room. Each item once, until the next `fill` from outside. */
  fill(now: number): Promise<void>;
  /** Resolves when nothing runs and nothing more is about to start. */
  idle(): Promise<void>;
  /** Starts nothing more; what runs is aborted or waited for as its kind says. */
  stop(): void;
  running(): number;
}

interface PoolOptions {
  work: WorkSource;
  log: Log;
}

/** Items that left their places and have not ended, for each place: a database that falls behind holds up the next items. */
const leftPerPlace = 4;
/** How many items are listed ahead, so that many short ones do not cost a question each. */
const lookAhead = 32;

/** Runs one kind of work, never more at once than it allows. Errors are logged; they end nothing but their own item. */
export function createPool({ work, log }: PoolOptions): Pool {
  const running = new Map<string, Promise<void>>();
  /** Those of them that have a place: their key, and how many of it they bear. */
  const places = new Map<string, { key: string; limit: number }>();
  const abort = new AbortController();
  /** Started since the last `fill` from outside: an item whose claim fails is still due, and must not be taken in a loop. */
  const started = new Set<string>();
  /** Listed as due and not yet started. */
  let listed: readonly { id: string }[] = [];
  /** Beside these keys nothing more was due at the last look: as long as all of them are busy, another look finds nothing. */
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
      // Room for one more: asked at once, so that many due items do not wait for a tick each.
      if (makesRoom && !isStopped) refill();
    };
    // A step later, so that one that leaves at once finds the list as it will be.
    running.set(item.id, Promise.resolve().then(perform));
  };

  const refill = () => {
    request().catch((error: unknown) => log.error("Due work could not be queried", { work: work.name, error }));
  };

  /** Starts what can be started of what was listed, and keeps the rest. Returns how many were started. */
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

  /** Starts what one look finds; false when nothing more can be started. */
  const startSome = async (): Promise<boolean> => {
    const free = () => !isStopped && !isFull();
    const count = startListed();
    if (!free()) return false;
    if (count > 0) return true;
    const busy = busyKeys();
    if (exhausted?.every((key) => busy.includes(key))) return false;
    // Items that run, or were started since the tick, may be listed again: room for them beside the free places.
    const limit = work.concurrency + running.size + lookAhead;
    const fill = fills;
    const found = await work.due(now, limit, busy);
    const known = new Set(listed.map((item) => item.id));
    // What waits for its key stays: it need not be found again when the key is free.
    listed = [...listed, ...found.filter((item) => !known.has(item.id))];
    const begun = startListed();
    // A fill meanwhile asks of a later moment.
    if (begun === 0 && fill === fills) exhausted = busy;
    return begun > 0 && free();
  };

  const startDue = async (): Promise<void> => {
    let isAgain = true;
    // A look may list one busy key alone; the next leaves that key out.
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
