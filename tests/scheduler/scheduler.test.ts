import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createLog } from "../../src/log.ts";
import type { WorkSource } from "../../src/scheduler/pool.ts";
import { createScheduler, type Scheduler } from "../../src/scheduler/scheduler.ts";
import { createFakeClock, type FakeClock, until } from "../support/fake-clock.ts";

interface Item {
  id: string;
  key: string;
}

/** Work in memory: due until it is claimed, which `perform` does as its first act. */
function fakeWork(change: Partial<WorkSource<Item>> = {}) {
  const waiting = new Map<string, Item>();
  const running = new Map<string, { item: Item; end: () => void; fail: (error: Error) => void }>();
  const performed: string[] = [];
  const aborted: string[] = [];
  let asked = 0;
  const work: WorkSource<Item> = {
    name: "fake",
    concurrency: 4,
    per_key: 4,
    due: async (_now, limit, busyKeys = []) => {
      asked++;
      return [...waiting.values()].filter((item) => !busyKeys.includes(item.key)).slice(0, limit);
    },
    keyOf: (item) => item.key,
    perform: async (item, signal) => {
      await Promise.resolve();
      waiting.delete(item.id);
      performed.push(item.id);
      await new Promise<void>((resolve, reject) => {
        running.set(item.id, { item, end: resolve, fail: reject });
        signal.addEventListener("abort", () => {
          aborted.push(item.id);
          reject(signal.reason);
        });
      }).finally(() => running.delete(item.id));
    },
    ...change,
  };
  return {
    work,
    performed,
    aborted,
    running,
    asked: () => asked,
    add: (...items: [id: string, key: string][]) => {
      for (const [id, key] of items) waiting.set(id, { id, key });
    },
    end: (id: string) => running.get(id)?.end(),
    ids: () => [...running.keys()].toSorted(),
  };
}

let clock: FakeClock;
let lines: string[];
let schedulers: Scheduler[];
beforeEach(() => {
  clock = createFakeClock();
  lines = [];
  schedulers = [];
});
afterEach(async () => {
  for (const scheduler of schedulers) await clock.runUntil(scheduler.stop({ grace_ms: 0 }));
});

function build(...work: WorkSource[]): Scheduler {
  const log = createLog({
    level: "debug",
    format: "text",
    clock,
    redact: (text) => text,
    write: (line) => lines.push(line),
  });
  const scheduler = createScheduler({ clock, log, work });
  schedulers.push(scheduler);
  return scheduler;
}

describe("tick()", () => {
  test("starts no more at once than the kind of work allows, and the next as soon as one has ended", async () => {
    const fake = fakeWork({ concurrency: 2 });
    fake.add(["a", "x"], ["b", "x"], ["c", "x"]);
    await build(fake.work).tick();
    await until(() => fake.running.size === 2);
    expect(fake.ids()).toEqual(["a", "b"]);
    fake.end("a");
    await until(() => fake.running.has("c"));
    expect(fake.ids()).toEqual(["b", "c"]);
  });

  test("starts no more of one key than allowed, and does not let it hold up the others", async () => {
    const fake = fakeWork({ concurrency: 3, per_key: 1 });
    fake.add(["a", "busy"], ["b", "busy"], ["c", "busy"], ["d", "free"], ["e", "other"]);
    await build(fake.work).tick();
    await until(() => fake.running.size === 3);
    expect(fake.ids()).toEqual(["a", "d", "e"]);
    fake.end("a");
    await until(() => fake.running.has("b"));
    expect(fake.ids()).toEqual(["b", "d", "e"]);
  });

  test("looks no more often for items that wait for one key than for free ones", async () => {
    const fake = fakeWork({ perKeyOf: () => 1 });
    const names = Array.from({ length: 12 }, (_, index) => `item-${index}`);
    fake.add(...names.map((name): [string, string] => [name, "host"]));
    const scheduler = build(fake.work);
    await scheduler.tick(0);
    for (const name of names) {
      await until(() => fake.running.has(name));
      fake.end(name);
    }
    await scheduler.idle();
    expect(fake.performed).toEqual(names);
    expect(fake.asked()).toBeLessThan(6);
  });

  test("finds at the next tick what became due while all free places waited for a busy key", async () => {
    const fake = fakeWork({ perKeyOf: () => 1 });
    fake.add(["a", "host"], ["b", "host"]);
    const scheduler = build(fake.work);
    await scheduler.tick(0);
    await until(() => fake.running.has("a"));
    fake.add(["c", "other"]);
    await scheduler.tick(1);
    await until(() => fake.running.has("c"));
    expect(fake.ids()).toEqual(["a", "c"]);
  });

  test("does not start again what is running", async () => {
    const fake = fakeWork();
    fake.add(["a", "x"]);
    const scheduler = build(fake.work);
    await scheduler.tick();
    await until(() => fake.running.has("a"));
    fake.add(["a", "x"]);
    await scheduler.tick();
    fake.add(["b", "x"]);
    await scheduler.tick();
    await until(() => fake.running.has("b"));
    expect(fake.performed).toEqual(["a", "b"]);
  });

  test("gives the place of what leaves early to the next, and still waits for its end", async () => {
    const ending = new Map<string, () => void>();
    const begun: string[] = [];
    const scheduler = build({
      name: "leaving",
      concurrency: 1,
      per_key: 1,
      due: async () => Array.from({ length: 9 }, (_, index) => ({ id: String(index) })),
      keyOf: () => "one",
      perform: async (item, _signal, leave) => {
        begun.push(item.id);
        const ended = new Promise<void>((resolve) => ending.set(item.id, resolve));
        leave();
        await ended;
      },
    });
    await scheduler.tick();
    // One place, and four that wait for their ends behind it: then there is no room for more.
    await until(() => begun.length === 5);
    expect(begun).toEqual(["0", "1", "2", "3", "4"]);
    let isIdle = false;
    const idle = scheduler.idle().then(() => {
      isIdle = true;
    });
    ending.get("0")?.();
    await until(() => begun.length === 6);
    expect(isIdle).toBe(false);
    while (begun.length < 9) {
      for (const end of ending.values()) end();
      await until(() => begun.every((id) => ending.has(id)));
    }
    for (const end of ending.values()) end();
    await idle;
    expect(begun).toHaveLength(9);
  });

  test("takes an item whose claim fails once in each tick, and goes on with the others", async () => {
    const tried: string[] = [];
    const scheduler = build({
      name: "broken",
      concurrency: 1,
      per_key: 1,
      due: async (_now, limit) => [{ id: "broken" }, { id: "good" }].slice(0, limit),
      keyOf: (item) => item.id,
      perform: async (item) => {
        tried.push(item.id);
        if (item.id === "broken") throw new Error("the claim failed");
      },
    });
    await scheduler.tick();
    await scheduler.idle();
    expect(tried).toEqual(["broken", "good"]);
    await scheduler.tick();
    await scheduler.idle();
    expect(tried).toEqual(["broken", "good", "broken", "good"]);
    expect(lines.filter((line) => line.includes("Work failed"))).toHaveLength(2);
  });

  test("logs a question that fails, and asks again the next time", async () => {
    let asked = 0;
    const other = fakeWork();
    other.add(["a", "x"]);
    const scheduler = build(
      {
        name: "silent",
        concurrency: 1,
        per_key: 1,
        due: async () => {
          asked++;
          throw new Error("the database does not answer");
        },
        keyOf: (item) => item.id,
        perform: async () => undefined,
      },
      other.work,
    );
    await scheduler.tick();
    await scheduler.tick();
    await until(() => other.running.has("a"));
    expect(asked).toBe(2);
    expect(lines.filter((line) => line.includes("the database does not answer"))).toHaveLength(2);
  });
});

test("nudge() looks at once", async () => {
  const fake = fakeWork();
  const scheduler = build(fake.work);
  fake.add(["a", "x"]);
  scheduler.nudge();
  await until(() => fake.running.has("a"));
});

test("begin() looks by itself, again and again", async () => {
  const fake = fakeWork();
  const scheduler = build(fake.work);
  scheduler.begin();
  await until(() => fake.asked() >= 2);
});

describe("stop()", () => {
  test("aborts what may be aborted, waits for the rest and starts nothing more", async () => {
    const short = fakeWork({ name: "short" });
    const long = fakeWork({ name: "long", on_stop: "wait" });
    short.add(["a", "x"]);
    long.add(["b", "x"]);
    const scheduler = build(short.work, long.work);
    await scheduler.tick();
    await until(() => short.running.has("a") && long.running.has("b"));
    const stopped = scheduler.stop({ grace_ms: 20_000 });
    await until(() => short.aborted.length === 1);
    short.add(["c", "x"]);
    await scheduler.tick();
    expect(long.aborted).toEqual([]);
    long.end("b");
    expect(await stopped).toBe(true);
    expect(short.performed).toEqual(["a"]);
    expect(lines.filter((line) => line.includes("Work failed"))).toEqual([]);
  });

  test("gives up when the grace period is over, and says so", async () => {
    const long = fakeWork({ on_stop: "wait" });
    long.add(["a", "x"]);
    const scheduler = build(long.work);
    await scheduler.tick();
    await until(() => long.running.has("a"));
    expect(await clock.runUntil(scheduler.stop({ grace_ms: 20_000 }))).toBe(false);
    expect(lines.some((line) => line.includes("Work did not finish in time"))).toBe(true);
    long.end("a");
  });
});
