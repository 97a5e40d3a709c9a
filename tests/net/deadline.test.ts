import { describe, expect, test } from "bun:test";
import { createDeadlines } from "../../src/net/deadline.ts";
import { createFakeClock } from "../support/fake-clock.ts";

function begin() {
  const clock = createFakeClock(0);
  const deadlines = createDeadlines(clock);
  const destroyed: string[] = [];
  const start = (name: string, ms: number, outer: readonly AbortSignal[] = []) => {
    const deadline = deadlines.start(ms, outer);
    deadline.watch(() => destroyed.push(`${name} at ${clock.now()}`));
    return deadline;
  };
  return { clock, destroyed, start };
}

describe("createDeadlines()", () => {
  test("ends each at its own time, whatever the order of their beginning, over one timer", async () => {
    const { clock, destroyed, start } = begin();
    start("late", 300);
    start("early", 100);
    start("middle", 200);
    expect(clock.pending()).toEqual([100]);
    await clock.advance(1_000);
    expect(destroyed).toEqual(["early at 100", "middle at 200", "late at 300"]);
    expect(clock.pending()).toEqual([]);
  });

  test("goes on with the others when the nearest has ended", async () => {
    const { clock, destroyed, start } = begin();
    const early = start("early", 100);
    start("late", 300);
    early.end();
    await clock.advance(1_000);
    expect(destroyed).toEqual(["late at 300"]);
    expect([early.hasPassed(), early.isOver()]).toEqual([false, false]);
  });

  test("holds no timer and no listener when nothing runs", () => {
    const { clock, start } = begin();
    const { signal } = new AbortController();
    const listeners: string[] = [];
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => {
      listeners.push("added");
      add(...given);
    };
    signal.removeEventListener = (...given: Parameters<typeof remove>) => {
      listeners.push("removed");
      remove(...given);
    };
    start("one", 100, [signal]).end();
    expect([clock.pending(), listeners]).toEqual([[], ["added", "removed"]]);
  });

  test("is over, and has not passed, when an outer signal aborts, before or after", () => {
    const { clock, destroyed, start } = begin();
    const controller = new AbortController();
    const running = start("running", 100, [controller.signal]);
    controller.abort();
    const late = start("late", 100, [controller.signal]);
    expect(destroyed).toEqual(["running at 0", "late at 0"]);
    expect([running, late].map((each) => [each.isOver(), each.hasPassed()])).toEqual([
      [true, false],
      [true, false],
    ]);
    expect(clock.pending()).toEqual([]);
  });

  test("destroys what is watched only after it was over, at once", async () => {
    const { clock, destroyed, start } = begin();
    const deadline = start("first", 100);
    await clock.advance(100);
    deadline.watch(() => destroyed.push("second"));
    expect([destroyed, deadline.hasPassed()]).toEqual([["first at 100", "second"], true]);
  });

  test("destroys nothing after its end", async () => {
    const { clock, destroyed, start } = begin();
    start("one", 100).end();
    await clock.advance(1_000);
    expect(destroyed).toEqual([]);
  });
});
