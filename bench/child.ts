import { fileURLToPath } from "node:url";
import { quantile } from "./figures.ts";

/** A script of this folder in a process of its own, which answers one message with one message. */
export interface Child {
  pid: number;
  ask<T>(message: Readonly<Record<string, unknown>>): Promise<T>;
  /** Ends it and waits until it is gone. */
  stop(): Promise<void>;
}

/** Longer than any single step of a measurement. */
const answerLimitMs = 180_000;

export function startChild(script: string): Child {
  let waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void } | null = null;
  const child = Bun.spawn([process.execPath, fileURLToPath(new URL(script, import.meta.url))], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (answer) => {
      waiting?.resolve(answer);
      waiting = null;
    },
    onExit: (_child, code) => waiting?.reject(new Error(`${script} ended with ${code}`)),
  });
  const ask = <T>(message: Readonly<Record<string, unknown>>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`${script} did not answer in time`)), answerLimitMs);
      waiting = {
        resolve: (answer) => {
          clearTimeout(limit);
          resolve(answer as T);
        },
        reject: (error) => {
          clearTimeout(limit);
          reject(error);
        },
      };
      child.send(message);
    });
  return {
    pid: child.pid,
    ask,
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** The child's side: answers every message by what `answer` returns, one after the other. */
export function answerParent(answer: (message: Readonly<Record<string, unknown>>) => Promise<unknown>): void {
  process.on("message", (message: Readonly<Record<string, unknown>>) => {
    answer(message).then(
      (result) => process.send?.(result ?? {}),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.on("disconnect", () => process.exit(0));
}

/** What a piece of work cost this process. */
export interface Cost {
  wall_ms: number;
  cpu_ms: number;
  /** The longest time that the event loop answered nobody. */
  stall_ms: number;
  /** Of 100 looks, 99 came no later than this. */
  stall_p99_ms: number;
}

/** Looked at this often; a stall is what a look comes too late. */
const stallStepMs = 5;

export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  let expected = performance.now() + stallStepMs;
  const late: number[] = [0];
  const timer = setInterval(() => {
    const now = performance.now();
    late.push(now - expected);
    expected = now + stallStepMs;
  }, stallStepMs);
  const cpu = process.cpuUsage();
  const from = performance.now();
  await work();
  const wall_ms = performance.now() - from;
  const used = process.cpuUsage(cpu);
  clearInterval(timer);
  // A stall that goes on to the end has no look after it.
  late.push(performance.now() - expected);
  const stall = { stall_ms: Math.max(...late), stall_p99_ms: quantile(late, 0.99) };
  return { wall_ms, cpu_ms: (used.user + used.system) / 1000, ...stall };
}
