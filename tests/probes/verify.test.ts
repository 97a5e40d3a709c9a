import { describe, expect, test } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import { defaultProbeTiming, type ProbeAttempt, verify } from "../../src/probes/verify.ts";
import type { Readiness } from "../../src/runtimes/runtime.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const notReady: Readiness = { ready: false, detail: "starting" };
const never = () => new Promise<Readiness>(() => undefined);

interface Options {
  timing?: Partial<typeof defaultProbeTiming>;
  signal?: AbortSignal;
}

function begin(answer: (seconds: number, signal: AbortSignal) => Promise<Readiness>, options: Options = {}) {
  const clock = createFakeClock(0);
  const attempts: ProbeAttempt[] = [];
  const verdict = verify({
    probe: { attempt: (signal) => answer(clock.now() / 1000, signal) },
    timing: { ...defaultProbeTiming, ...options.timing },
    clock,
    signal: options.signal ?? new AbortController().signal,
    onAttempt: (attempt) => {
      attempts.push(attempt);
    },
  });
  return { clock, attempts, verdict, starts: () => attempts.map((attempt) => attempt.started_at / 1000) };
}

describe("verify()", () => {
  test("attempts first at the initial delay, then each interval, none after the total", async () => {
    const { clock, verdict, starts } = begin(async () => notReady);
    expect(await clock.runUntil(verdict)).toEqual({ passed: false, detail: "starting", attempts: 37, ready_at: null });
    expect(starts()).toEqual(Array.from({ length: 37 }, (_, index) => 15 + index * 5));
    expect(clock.pending()).toEqual([]);
  });

  test("attempts nothing before the initial delay", async () => {
    const { clock, starts } = begin(async () => notReady);
    await clock.advance(14_999);
    expect(starts()).toEqual([]);
    await clock.advance(1);
    expect(starts()).toEqual([15]);
  });

  test("ends at the first attempt that passes", async () => {
    const { clock, verdict, starts } = begin(async (at) => (at >= 25 ? { ready: true, detail: "healthy" } : notReady));
    expect(await clock.runUntil(verdict)).toEqual({ passed: true, detail: "healthy", attempts: 3, ready_at: 25_000 });
    expect(starts()).toEqual([15, 20, 25]);
  });

  test("ends early as a failure when waiting is of no use", async () => {
    const { clock, verdict, starts } = begin(async () => ({ ready: false, detail: "exited with 1", final: true }));
    expect(await clock.runUntil(verdict)).toEqual({
      passed: false,
      detail: "exited with 1",
      attempts: 1,
      ready_at: null,
    });
    expect(starts()).toEqual([15]);
  });

  test("cuts each attempt at the single timeout and goes on at once when the interval is shorter", async () => {
    const { clock, verdict, attempts, starts } = begin(never, { timing: { total_probe_duration_seconds: 30 } });
    const { detail } = await clock.runUntil(verdict);
    expect(detail).toBe("No answer within 10 s");
    expect(starts()).toEqual([15, 25, 35, 45]);
    expect(attempts.map((attempt) => attempt.duration_ms)).toEqual([10_000, 10_000, 10_000, 10_000]);
  });

  test("keeps the interval from start to start when an attempt is slow but in time", async () => {
    const slow = (_at: number, signal: AbortSignal) =>
      clockOf()
        .sleep(3_000, signal)
        .then<Readiness>(() => notReady);
    let clockOf = () => createFakeClock();
    const run = begin(slow, { timing: { total_probe_duration_seconds: 12 } });
    clockOf = () => run.clock;
    await run.clock.runUntil(run.verdict);
    expect(run.starts()).toEqual([15, 20, 25]);
  });

  test("aborts the attempt that it cuts", async () => {
    let reason: unknown;
    const { clock, verdict } = begin(
      (_at, signal) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
        });
        return never();
      },
      { timing: { total_probe_duration_seconds: 0 } },
    );
    expect((await clock.runUntil(verdict)).attempts).toBe(1);
    expect(reason).toBeInstanceOf(PluginError);
  });

  test("takes a probe's PluginError as an attempt that did not pass", async () => {
    const { clock, verdict } = begin(async (at) => {
      if (at < 20) throw new PluginError("unreachable", "The engine does not answer");
      return { ready: true, detail: "running" };
    });
    expect(await clock.runUntil(verdict)).toMatchObject({ passed: true, attempts: 2 });
  });

  test("rejects with what a broken probe threw", async () => {
    const { clock, verdict } = begin(async () => {
      throw new TypeError("a bug");
    });
    await expect(clock.runUntil(verdict)).rejects.toThrow("a bug");
  });

  test.each([
    ["during the initial delay", 1_000],
    ["during an attempt", 16_000],
  ])("rejects with the signal's reason when aborted %s", async (_when, at) => {
    const controller = new AbortController();
    const { clock, verdict } = begin(never, { signal: controller.signal });
    verdict.catch(() => undefined);
    await clock.advance(at);
    controller.abort(new Error("lease lost"));
    await expect(verdict).rejects.toThrow("lease lost");
    await clock.advance(0);
    expect(clock.pending()).toEqual([]);
  });
});
