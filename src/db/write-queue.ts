import { setImmediate } from "node:timers";
import type { LocalDatabase } from "./local-client.ts";

/** Works that share one commit. More would keep the first one waiting and the event loop busy for longer than a commit takes. */
const maxTogether = 16;

interface Waiting<W> {
  /** Runs the work, perhaps not for the first time, and keeps its outcome; throws what the work threw. */
  run(writer: W): Promise<void>;
  settle(): void;
  reject(error: unknown): void;
}

export interface WriteQueue<W> {
  write<T>(work: (writer: W) => Promise<T>): Promise<T>;
  /** Resolves when everything that was asked for so far has ended. */
  idle(): Promise<void>;
}

interface QueueOptions<W> {
  store: LocalDatabase;
  writer: W;
  /** Runs a transaction again while another process holds the lock, and says what else a failure means. */
  retry: <T>(transaction: () => Promise<T>) => Promise<T>;
}

/**
 * One write transaction at a time. Works that wait at the same moment share one: what costs time is the commit, which waits for the
 * disk. When one throws, all are undone and each is run again by itself, so that only its own caller hears of it; a savepoint for
 * each would spare that rare second run, and cost two statements every time. No promise resolves before the commit that holds its
 * rows.
 */
export function createWriteQueue<W>({ store, writer, retry }: QueueOptions<W>): WriteQueue<W> {
  const waiting: Waiting<W>[] = [];
  let draining: Promise<void> | null = null;

  const alone = async (work: Waiting<W>): Promise<void> => {
    store.begin();
    try {
      await work.run(writer);
      store.commit();
    } catch (error) {
      store.rollback();
      throw error;
    }
  };

  /** False when one of them threw, or the engine ended the transaction: nothing is written, and each is then done by itself. */
  const together = async (works: readonly Waiting<W>[]): Promise<boolean> => {
    store.begin();
    try {
      for (const work of works) await work.run(writer);
      store.commit();
      return true;
    } catch {
      return false;
    } finally {
      store.rollback();
    }
  };

  const settleAlone = async (work: Waiting<W>): Promise<void> => {
    try {
      await retry(() => alone(work));
      work.settle();
    } catch (error) {
      work.reject(error);
    }
  };

  const settleTogether = async (works: readonly Waiting<W>[]): Promise<void> => {
    // Whatever it was, a lock at the beginning too: the queue goes on, and each caller hears of its own work.
    const isDone = await together(works).catch(() => false);
    for (const work of works) {
      if (isDone) work.settle();
      else await settleAlone(work);
    }
  };

  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      const works = waiting.splice(0, maxTogether);
      const [first] = works;
      if (first !== undefined && works.length === 1) await settleAlone(first);
      else await settleTogether(works);
    }
    // In the same step as the last look: what comes later begins anew.
    draining = null;
  };

  return {
    write: <T>(work: (writer: W) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        let outcome: { value: T } | null = null;
        waiting.push({
          run: async (of) => {
            outcome = { value: await work(of) };
          },
          settle: () =>
            outcome === null ? reject(new Error("A write ended without an outcome")) : resolve(outcome.value),
          reject,
        });
        // Behind what is ready at this moment, so that it can share the commit.
        draining ??= new Promise<void>((go) => setImmediate(go)).then(drain);
      }),
    idle: async () => {
      while (draining !== null) await draining;
    },
  };
}
