import { setImmediate } from "node:timers";
import type { LocalDatabase } from "./local-client.ts";

/** Writes that share one commit. More would delay the first one and block the event loop for longer than a commit takes. */
const maxTogether = 16;

interface Waiting<W> {
  /** Runs the work, perhaps more than once, and keeps its result; rethrows its error. */
  run(writer: W): Promise<void>;
  settle(): void;
  reject(error: unknown): void;
}

export interface WriteQueue<W> {
  write<T>(work: (writer: W) => Promise<T>): Promise<T>;
  /** Resolves when everything queued so far has ended. */
  idle(): Promise<void>;
}

interface QueueOptions<W> {
  store: LocalDatabase;
  writer: W;
  /** Retries a transaction while another process holds the lock, and translates other failures. */
  retry: <T>(transaction: () => Promise<T>) => Promise<T>;
}

/**
 * One write transaction at a time. Writes that wait at the same moment share one, because the expensive part is the commit, which waits for
 * the disk. When one throws, all are rolled back and run again separately, so that only its own caller sees the error; a savepoint for each
 * would avoid that rare second run but cost two statements every time. No promise resolves before the commit that holds its rows.
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

  /** False when one of them threw or the engine ended the transaction: nothing is written, and each then runs separately. */
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
    // Whatever failed, even taking the lock: the queue continues, and each caller gets the result of its own work.
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
    // In the same tick as the last check: anything later starts a new drain.
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
        // After everything that is ready in this tick, so that it can share the commit.
        draining ??= new Promise<void>((go) => setImmediate(go)).then(drain);
      }),
    idle: async () => {
      while (draining !== null) await draining;
    },
  };
}
