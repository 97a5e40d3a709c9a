import { describe, expect, test } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { defaultProbeTiming, type ProbeAttempt, verify } from "../../src/probes/verify.ts";
import type { Readiness } from "../../src/runtimes/session.ts";
import { english } from "../support/english.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const notReady: Readiness = { ready: false, detail: plain("starting") };
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
    expect(await clock.runUntil(verdict)).toEqual({
      passed: false,
      detail: plain("starting"),
      attempts: 37,
      ready_at: null,
    });
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
    const { clock, verdict, starts } = begin(async (at) =>
      at >= 25 ? { ready: true, detail: plain("healthy") } : notReady,
    );
    expect(await clock.runUntil(verdict)).toEqual({
      passed: true,
      detail: plain("healthy"),
      attempts: 3,
      ready_at: 25_000,
    });
    expect(starts()).toEqual([15, 20, 25]);
  });

  test("ends early as a failure when waiting is of no use", async () => {
    const { clock, verdict, starts } = begin(async () => ({
      ready: false,
      detail: plain("exited with 1"),
      final: true,
    }));
    expect(await clock.runUntil(verdict)).toEqual({
      passed: false,
      detail: plain("exited with 1"),
      attempts: 1,
      ready_at: null,
    });
    expect(starts()).toEqual([15]);
  });

  test("cuts each attempt at the single timeout and goes on at once when the interval is shorter", async () => {
    const { clock, verdict, attempts, starts } = begin(never, { timing: { total_probe_duration_seconds: 30 } });
    const { detail } = await clock.runUntil(verdict);
    expect(english(detail)).toBe("No response within 10 s");
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
      if (at < 20) throw new PluginError("unreachable", plain("The engine does not answer"));
      return { ready: true, detail: plain("running") };
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

describe("verify() goes on observing after the probe has passed", () => {
  const fine: Readiness = { ready: true, detail: plain("Running") };
  const restarted: Readiness = { ready: false, detail: plain("The engine restarted it once"), final: true };
  const young: Readiness = { ready: false, detail: plain("Running for 3 of 10 s") };

  interface Story {
    /** Seconds after the start at which the probe passes for the first time. */
    ready_at?: number;
    initial_delay?: number;
    interval?: number;
    total?: number;
    until?: number;
    is_native?: boolean;
    look: (seconds: number) => Readiness | PluginError;
  }
  const play = async (story: Story) => {
    const { ready_at = 0, initial_delay = 0, interval = 4, total = 180, until = 10, is_native = false } = story;
    const clock = createFakeClock(0);
    const looks: number[] = [];
    const starts: number[] = [];
    const verdict = verify({
      probe: {
        attempt: async () =>
          clock.now() >= ready_at * 1000 ? { ready: true, detail: plain("Answered 200") } : notReady,
      },
      timing: {
        initial_delay_seconds: initial_delay,
        single_timeout_seconds: 2,
        probe_interval_seconds: interval,
        total_probe_duration_seconds: total,
      },
      clock,
      signal: new AbortController().signal,
      onAttempt: ({ started_at }) => {
        starts.push(started_at / 1000);
      },
      observe: {
        until: until * 1000,
        at_least_once: !is_native,
        readiness: async () => {
          looks.push(clock.now() / 1000);
          const found = story.look(clock.now() / 1000);
          if (found instanceof PluginError) throw found;
          return found;
        },
      },
    });
    const { passed, detail, ready_at: at } = await clock.runUntil(verdict);
    return { passed, detail, ready_at: at, looks, starts, ended: clock.now() / 1000 };
  };

  test.each<readonly [string, Story, Partial<Awaited<ReturnType<typeof play>>>]>([
    [
      "to the end of the stability period, however early it passed",
      { look: () => fine },
      { passed: true, detail: plain("Answered 200"), ready_at: 0, starts: [0], looks: [4, 8, 10], ended: 10 },
    ],
    [
      "from when it passed, and without a further probe",
      { ready_at: 8, look: () => fine },
      { passed: true, ready_at: 8_000, starts: [0, 4, 8], looks: [10], ended: 10 },
    ],
    [
      "once when the period was over before, so that a restart in it is seen",
      { initial_delay: 15, look: () => restarted },
      {
        passed: false,
        detail: plain("The engine restarted it once"),
        ready_at: null,
        starts: [15],
        looks: [15],
        ended: 15,
      },
    ],
    [
      "not at all for a native probe that passed after the period",
      { initial_delay: 15, is_native: true, look: () => restarted },
      { passed: true, starts: [15], looks: [], ended: 15 },
    ],
    [
      "also for a native probe that passed within it",
      { is_native: true, look: (at) => (at < 8 ? fine : restarted) },
      { passed: false, detail: plain("The engine restarted it once"), looks: [4, 8], ended: 8 },
    ],
    [
      "and fails at the look that sees it restarted, exited, killed or unhealthy",
      { look: (at) => (at < 5 ? fine : restarted) },
      { passed: false, detail: plain("The engine restarted it once"), ready_at: null, looks: [4, 8], ended: 8 },
    ],
    [
      "and takes what is not ready yet for nothing worse than that",
      { look: () => young },
      { passed: true, looks: [4, 8, 10], ended: 10 },
    ],
    [
      "each second at most, however short the interval is",
      { interval: 0, until: 3, look: () => fine },
      { passed: true, looks: [1, 2, 3], ended: 3 },
    ],
    [
      "until the runtime answers again",
      { look: (at) => (at < 15 ? new PluginError("unreachable", plain("The engine does not answer")) : fine) },
      { passed: true, looks: [4, 8, 10, 14, 18], ended: 18 },
    ],
    [
      "no longer than probing would have taken",
      { total: 20, look: () => new PluginError("unreachable", plain("The engine does not answer")) },
      { passed: false, detail: plain("The engine does not answer"), looks: [4, 8, 10, 14, 18], ended: 18 },
    ],
  ])("%s", async (_name, story, expected) => {
    expect(await play(story)).toMatchObject(expected);
  });

  test("and stops when it is told to", async () => {
    const controller = new AbortController();
    const clock = createFakeClock(0);
    const verdict = verify({
      probe: { attempt: async () => fine },
      timing: { ...defaultProbeTiming, initial_delay_seconds: 0 },
      clock,
      signal: controller.signal,
      observe: { until: 10_000, readiness: async () => fine, at_least_once: true },
    });
    verdict.catch(() => undefined);
    await clock.advance(6_000);
    controller.abort(new Error("lease lost"));
    await expect(verdict).rejects.toThrow("lease lost");
  });
});

describe("verify() watches for the end of the target beside the probes", () => {
  const exited = plain("Container exited (code 3)");
  const tenMinutes = { initial_delay_seconds: 600, probe_interval_seconds: 60, total_probe_duration_seconds: 120 };

  /** A target that ends after so many seconds, and a probe that is answered by the table. */
  const watched = (endsAt: number, answer: (seconds: number) => Promise<Readiness>, timing = tenMinutes) => {
    const looks: number[] = [];
    const starts: number[] = [];
    const clock = createFakeClock(0);
    const verdict = verify({
      probe: { attempt: () => answer(clock.now() / 1000) },
      timing: { ...defaultProbeTiming, ...timing },
      clock,
      signal: new AbortController().signal,
      onAttempt: ({ started_at }) => {
        starts.push(started_at / 1000);
      },
      observe: {
        until: 10_000,
        at_least_once: true,
        readiness: async () => ({ ready: true, detail: plain("Running") }),
      },
      findEnd: async () => {
        looks.push(clock.now() / 1000);
        // An engine that does not answer for a moment is asked again.
        if (looks.length === 2) throw new PluginError("unreachable", plain("The engine does not answer"));
        return clock.now() / 1000 >= endsAt ? exited : null;
      },
    });
    return { clock, looks, starts, verdict };
  };

  test("at once, long before the first probe", async () => {
    const { clock, verdict, looks, starts } = watched(0, never);
    expect(await clock.runUntil(verdict)).toEqual({ passed: false, detail: exited, attempts: 0, ready_at: null });
    expect([looks, starts]).toEqual([[0], []]);
  });

  test.each([
    ["during the initial delay", 0.3, 0],
    ["between two probes", 630, 1],
  ])("within a second, %s", async (_when, endsAt, attempts) => {
    const { clock, verdict, looks } = watched(endsAt, async () => notReady);
    expect(await clock.runUntil(verdict)).toEqual({ passed: false, detail: exited, attempts, ready_at: null });
    expect((looks.at(-1) ?? 0) - endsAt).toBeLessThan(1);
    expect(clock.pending()).toEqual([]);
  });

  test("while an attempt hangs, which is cut and not noted", async () => {
    const { clock, verdict, starts } = watched(605, never);
    expect(await clock.runUntil(verdict)).toMatchObject({ passed: false, detail: exited, attempts: 0 });
    expect(starts).toEqual([]);
  });

  test("in the stability period, after a probe has passed", async () => {
    const timing = { ...tenMinutes, initial_delay_seconds: 0 };
    const { clock, verdict, starts } = watched(5, async () => ({ ready: true, detail: plain("Answered 200") }), timing);
    expect(await clock.runUntil(verdict)).toMatchObject({ passed: false, detail: exited, attempts: 1, ready_at: null });
    expect(starts).toEqual([0]);
  });

  test("and changes neither how often nor when it is probed", async () => {
    const { clock, verdict, starts } = watched(Number.POSITIVE_INFINITY, async () => notReady);
    expect(await clock.runUntil(verdict)).toMatchObject({ passed: false, detail: plain("starting"), attempts: 3 });
    expect(starts).toEqual([600, 660, 720]);
    expect(clock.pending()).toEqual([]);
  });

  test("and passes on what is no answer of a runtime", async () => {
    const clock = createFakeClock(0);
    const verdict = verify({
      probe: { attempt: never },
      timing: defaultProbeTiming,
      clock,
      signal: new AbortController().signal,
      findEnd: async () => {
        throw new TypeError("a bug");
      },
    });
    await expect(clock.runUntil(verdict)).rejects.toThrow("a bug");
  });
});
