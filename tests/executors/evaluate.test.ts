import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { createWorld, digest, makeDue, release, type World } from "../support/run-world.ts";

const minute = 60_000;
const hour = 60 * minute;
const live = new AbortController().signal;

let world: World;
beforeEach(async () => {
  // The clock begins on Monday 2026-01-05 at 12:00 UTC.
  world = await createWorld();
});
afterEach(() => world.close());

const outcomes = async (executor: string) =>
  (await world.runsOf(executor)).map((run) => [run.trigger, run.attempt, run.state, run.reason_code]);
const state = async (executor: string) => (await world.main.executors.get(executor)).state;
/** Evaluates without performing what was queued. */
const evaluate = async (executor: string) => {
  await makeDue(world, executor);
  await world.clock.runUntil(world.main.evaluator.perform({ id: executor }, live));
};

describe("an immediate trigger", () => {
  test("runs when the channel has another version, once, and then is current", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    expect(await outcomes(executor)).toEqual([["immediate", 1, "succeeded", null]]);
    await world.tick();
    expect(await state(executor)).toBe("current");
    await makeDue(world, executor);
    await world.tick();
    expect(await world.runsOf(executor)).toHaveLength(1);
    expect(await world.events()).toHaveLength(1);
  });

  test("takes a republished tag", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    world.upstream.choice = { release: release("1.0", "c"), ready_at: null };
    await world.tick();
    expect(await outcomes(executor)).toEqual([["immediate", 1, "succeeded", null]]);
    expect(world.engine.get("web").digest).toBe(digest("c"));
  });

  test("makes no row when there is nothing to do", async () => {
    world.upstream.choice = { release: release("1.0", "a"), ready_at: null };
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    expect(await world.runsOf(executor)).toEqual([]);
    expect(await world.events()).toEqual([]);
    expect(await state(executor)).toBe("current");
  });

  test.each([
    ["tag", `registry.test/app@${digest("b")}`],
    ["digest", "registry.test/app:1.1"],
  ])("restarts nothing to name the same image by %s", async (reference_mode, image) => {
    world.engine.add("web", image, digest("b"));
    const executor = await world.addExecutor({ trigger: "immediate", reference_mode });
    await world.tick();
    expect(await world.runsOf(executor)).toEqual([]);
    expect(await state(executor)).toBe("current");
  });

  test("two ticks in two processes queue one run", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    const other = world.instance();
    await world.clock.runUntil(
      Promise.all([
        world.main.evaluator.perform({ id: executor }, live),
        other.evaluator.perform({ id: executor }, live),
        world.main.evaluator.perform({ id: executor }, live),
      ]),
    );
    expect(await world.runsOf(executor)).toHaveLength(1);
  });

  test("after a crash of its run does not take the same revision again", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    await evaluate(executor);
    const [queued] = await world.runsOf(executor);
    await world.db.client.execute({
      sql: "update runs set state = 'updating', lease_owner = 'dead', lease_until = 0 where id = ?",
      args: [queued?.id ?? ""],
    });
    await world.tick();
    await makeDue(world, executor);
    await world.tick();
    expect(await outcomes(executor)).toEqual([["immediate", 1, "failed", "interrupted"]]);
    expect(await state(executor)).toBe("failed");
  });

  test("after a failed health check waits for another version", async () => {
    world.engine.judge = (each) =>
      each.digest === digest("b")
        ? { ready: false, detail: plain("Exited"), final: true }
        : { ready: true, detail: plain("Runs") };
    const executor = await world.addExecutor({ trigger: "immediate" });
    for (let time = 0; time < 4; time++) {
      await world.clock.advance(20 * minute);
      await world.tick();
    }
    expect(await outcomes(executor)).toEqual([["immediate", 1, "failed", "unhealthy"]]);
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await makeDue(world, executor);
    await world.tick();
    expect(await outcomes(executor)).toEqual([
      ["immediate", 1, "failed", "unhealthy"],
      ["immediate", 1, "succeeded", null],
    ]);
  });

  test("tries again once, ten minutes after a transport fault, and then no more", async () => {
    world.engine.failures.set("pull", new PluginError("unreachable", plain("Pull: connection reset")));
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    await evaluate(executor);
    const waiting = await world.main.executors.get(executor);
    const ended = (await world.runsOf(executor))[0]?.ended_at ?? 0;
    expect(waiting).toMatchObject({ state: "waiting", waiting: { reason: "retry", until: ended + 10 * minute } });
    await world.clock.advance(9 * minute);
    await world.tick();
    expect(await world.runsOf(executor)).toHaveLength(1);
    await world.clock.advance(minute);
    await world.tick();
    for (let time = 0; time < 4; time++) {
      await world.clock.advance(20 * minute);
      await world.tick();
    }
    expect(await outcomes(executor)).toEqual([
      ["immediate", 1, "failed", "unreachable"],
      ["immediate", 2, "failed", "unreachable"],
    ]);
  });

  test("comes after a run by hand that met a transport fault", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    world.engine.failures.set("pull", new PluginError("unreachable", plain("Pull: connection reset")));
    expect((await world.update(executor)).reason_code).toBe("unreachable");
    world.engine.failures.clear();
    await world.tick();
    expect(await world.runsOf(executor)).toHaveLength(1);
    await world.clock.advance(10 * minute);
    await world.tick();
    expect((await outcomes(executor)).at(-1)).toEqual(["immediate", 1, "succeeded", null]);
  });

  test.each([
    ["pull", "rejected", "pull_failed"],
    ["start", "rejected", "update_failed"],
  ] as const)("does not try again after %s failed with %s", async (step, code, reason) => {
    world.engine.failures.set(step, new PluginError(code, plain("Engine: 500")));
    const executor = await world.addExecutor({ trigger: "immediate" });
    for (let time = 0; time < 3; time++) {
      await world.tick();
      await world.clock.advance(20 * minute);
    }
    expect(await outcomes(executor)).toEqual([["immediate", 1, "failed", reason]]);
  });

  test("never goes to a lower version, and says so once", async () => {
    world.upstream.choice = { release: release("0.9", "c"), ready_at: null };
    const executor = await world.addExecutor({ trigger: "immediate" });
    for (let time = 0; time < 3; time++) {
      await world.tick();
      await world.clock.advance(20 * minute);
    }
    expect(await outcomes(executor)).toEqual([["immediate", 1, "skipped", "would_downgrade"]]);
    expect(await world.events()).toHaveLength(1);
  });

  test("goes to a lower version where that is allowed", async () => {
    world.upstream.choice = { release: release("0.9", "c"), ready_at: null };
    const executor = await world.addExecutor({ trigger: "immediate", allow_downgrade: true });
    await world.tick();
    expect(await outcomes(executor)).toEqual([["immediate", 1, "succeeded", null]]);
  });

  test("comes back to a revision that was left for another one", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    for (const letter of ["b", "c", "b"]) {
      world.upstream.choice = { release: release("latest", letter), ready_at: null };
      world.engine.containers.set("web", { ...world.engine.get("web"), image: "registry.test/app:latest" });
      await makeDue(world, executor);
      await world.tick();
      await world.clock.advance(minute);
    }
    expect(await outcomes(executor)).toEqual([
      ["immediate", 1, "succeeded", null],
      ["immediate", 1, "succeeded", null],
      ["immediate", 2, "succeeded", null],
    ]);
    expect(world.engine.get("web").digest).toBe(digest("b"));
  });

  test("leaves a version alone that was rolled back by hand", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    const [snapshot] = (await world.main.snapshots.list({})).items;
    await world.clock.advance(minute);
    const rollback = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(rollback).toMatchObject({ kind: "rollback", state: "succeeded" });
    for (let time = 0; time < 3; time++) {
      await world.clock.advance(20 * minute);
      await world.tick();
    }
    expect(await world.runsOf(executor)).toHaveLength(2);
    expect(world.engine.get("web").image).toBe("registry.test/app:1.0");
  });
});

describe("a target that cannot be seen", () => {
  test("of an engine that does not answer makes no run, shows why, and is looked at again soon", async () => {
    world.engine.isUnreachable = true;
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    const view = await world.main.executors.get(executor);
    expect(view).toMatchObject({ state: "unknown", problem: { code: "unreachable" }, observed_at: null });
    expect(await world.runsOf(executor)).toEqual([]);
    world.engine.isUnreachable = false;
    await world.clock.advance(2 * minute);
    await world.tick();
    expect(await outcomes(executor)).toEqual([["immediate", 1, "succeeded", null]]);
  });

  test("of a disabled connection is skipped once for a new version, and updated when it is enabled", async () => {
    world.upstream.choice = { release: release("1.0", "a"), ready_at: null };
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    await world.main.connections.update(systemActor, world.connectionId, { is_enabled: false });
    await world.tick();
    expect(await world.runsOf(executor)).toEqual([]);
    world.upstream.choice = { release: release("1.1", "b"), ready_at: null };
    for (let time = 0; time < 3; time++) {
      await makeDue(world, executor);
      await world.tick();
      await world.clock.advance(minute);
    }
    expect(await outcomes(executor)).toEqual([["immediate", 1, "skipped", "connection_disabled"]]);
    await world.main.connections.update(systemActor, world.connectionId, { is_enabled: true });
    await world.tick();
    expect(await outcomes(executor)).toEqual([
      ["immediate", 1, "skipped", "connection_disabled"],
      ["immediate", 2, "succeeded", null],
    ]);
  });

  test("that is missing is skipped once for a new version, and updated when it is back", async () => {
    world.upstream.choice = { release: release("1.0", "a"), ready_at: null };
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    world.engine.containers.clear();
    world.upstream.choice = { release: release("1.1", "b"), ready_at: null };
    for (let time = 0; time < 3; time++) {
      await makeDue(world, executor);
      await world.tick();
    }
    expect(await outcomes(executor)).toEqual([["immediate", 1, "skipped", "target_missing"]]);
    world.engine.add("web", "registry.test/app:1.0", digest("a"));
    await makeDue(world, executor);
    await world.tick();
    expect((await outcomes(executor)).at(-1)).toEqual(["immediate", 2, "succeeded", null]);
  });
});

test("what was seen last is kept with its time while the engine does not answer", async () => {
  const executor = await world.addExecutor();
  await world.tick();
  const seenAt = world.clock.now();
  world.engine.isUnreachable = true;
  world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
  await world.clock.advance(15 * minute);
  await world.tick();
  const view = await world.main.executors.get(executor);
  expect(view).toMatchObject({ state: "unknown", observed_at: seenAt, problem: { code: "unreachable" } });
  expect(view.services[0]).toMatchObject({ found: { digest: digest("a") }, desired: { tag: "1.2" } });
});

describe("a maintenance window", () => {
  const window = { days: ["monday"], start: "22:00", end: "02:00" };

  test("outside of it waits without a row and shows the next start, inside it runs", async () => {
    const executor = await world.addExecutor({ trigger: "window", window });
    await world.tick();
    const view = await world.main.executors.get(executor);
    const opens = world.clock.now() + 10 * hour;
    expect(view).toMatchObject({ state: "waiting", waiting: { reason: "window", until: opens }, open_window: null });
    expect(view.next_windows.map((each) => each.opens_at)).toEqual([opens, opens + 168 * hour, opens + 336 * hour]);
    await world.clock.advance(9 * hour + 59 * minute);
    await world.tick();
    expect(await world.runsOf(executor)).toEqual([]);
    await world.clock.advance(minute);
    await world.tick();
    expect(await outcomes(executor)).toEqual([["window", 1, "succeeded", null]]);
  });

  test("that closes before the run is claimed leaves no trace, and the run comes with the next one", async () => {
    const executor = await world.addExecutor({ trigger: "window", window });
    await world.clock.advance(13 * hour + 59 * minute);
    await evaluate(executor);
    expect(await outcomes(executor)).toEqual([["window", 1, "pending", null]]);
    await world.clock.advance(2 * minute);
    await world.tick();
    expect(await world.runsOf(executor)).toEqual([]);
    expect(await world.events()).toEqual([]);
    await world.clock.advance(164 * hour);
    await world.tick();
    expect(await outcomes(executor)).toEqual([["window", 1, "succeeded", null]]);
  });

  test("that closes during the pull ends the run untouched; it comes again with the next one", async () => {
    const executor = await world.addExecutor({ trigger: "window", window });
    await world.clock.advance(13 * hour + 59 * minute);
    world.engine.gate = async () => {
      world.clock.set(world.clock.now() + 2 * minute);
    };
    await world.tick();
    world.engine.gate = async () => undefined;
    expect(await outcomes(executor)).toEqual([["window", 1, "skipped", "window_closed"]]);
    expect(world.engine.calls).toEqual(["pull registry.test/app:1.1"]);
    await world.clock.advance(165 * hour);
    await world.tick();
    expect((await outcomes(executor)).at(-1)).toEqual(["window", 2, "succeeded", null]);
  });

  test("a run that started inside may finish outside", async () => {
    const executor = await world.addExecutor({ trigger: "window", window });
    await world.clock.advance(13 * hour + 59 * minute + 50_000);
    await world.tick();
    const [run] = await world.runsOf(executor);
    expect(run?.state).toBe("succeeded");
    expect(run?.ended_at).toBeGreaterThan(Date.UTC(2026, 0, 6, 2));
  });

  test("does not hold a manual run", async () => {
    const executor = await world.addExecutor({ trigger: "window", window });
    expect((await world.update(executor)).state).toBe("succeeded");
  });

  test("follows the system time zone at once", async () => {
    const executor = await world.addExecutor({ trigger: "window", window });
    await world.tick();
    world.settings.timezone = "Asia/Tokyo";
    await world.main.executors.timezoneChanged();
    await world.clock.advance(hour);
    await world.tick();
    // 22:00 in Tokyo is 13:00 UTC.
    expect(await outcomes(executor)).toEqual([["window", 1, "succeeded", null]]);
  });
});

describe("a minimum age", () => {
  test("waits until the release is old enough, without a row", async () => {
    const ready = world.clock.now() + 5 * hour;
    world.upstream.choice = { release: null, ready_at: ready };
    const executor = await world.addExecutor({ trigger: "immediate", minimum_age_hours: 24 });
    await world.tick();
    expect(await world.main.executors.get(executor)).toMatchObject({ waiting: { reason: "age", until: ready } });
    expect(await world.runsOf(executor)).toEqual([]);
    world.upstream.choice = { release: release("1.1", "b"), ready_at: null };
    await world.clock.advance(5 * hour);
    await world.tick();
    expect(await outcomes(executor)).toEqual([["immediate", 1, "succeeded", null]]);
  });

  test("is asked of the tracker, and an older release that is old enough is taken meanwhile", async () => {
    world.upstream.choice = { release: release("1.1", "b"), ready_at: world.clock.now() + hour };
    const executor = await world.addExecutor({ trigger: "immediate", minimum_age_hours: 24 });
    await world.tick();
    expect(world.engine.get("web").image).toBe("registry.test/app:1.1");
    expect(await outcomes(executor)).toHaveLength(1);
  });
});

describe("a manual trigger", () => {
  test("only observes", async () => {
    const executor = await world.addExecutor();
    await world.tick();
    const view = await world.main.executors.get(executor);
    expect(await world.runsOf(executor)).toEqual([]);
    expect(view).toMatchObject({ state: "update", waiting: null });
    expect(view.services[0]).toMatchObject({
      found: { tag: "1.0", digest: digest("a"), state: "running" },
      desired: { tag: "1.1", digest: digest("b"), reference: "registry.test/app:1.1" },
      difference: "other_version",
    });
  });

  test("looks at the target again every quarter of an hour", async () => {
    const executor = await world.addExecutor();
    await world.tick();
    world.engine.add("web", "registry.test/app:1.1", digest("b"));
    await world.clock.advance(14 * minute);
    await world.tick();
    expect(await state(executor)).toBe("update");
    await world.clock.advance(minute);
    await world.tick();
    expect(await state(executor)).toBe("current");
  });
});

test("an evaluation during which a check found something is made again", async () => {
  const executor = await world.addExecutor();
  let writes = 0;
  const slow = world.instance({
    gate: async () => {
      writes += 1;
      // Between the claim and the result.
      if (writes === 3) await makeDue(world, executor);
    },
  });
  await world.clock.runUntil(slow.evaluator.perform({ id: executor }, live));
  expect(await state(executor)).toBe("update");
  expect(await world.main.evaluator.due(world.clock.now(), 10)).toEqual([{ id: executor }]);
});

test("a process that dies in an evaluation leaves it to the next after its lease", async () => {
  const executor = await world.addExecutor();
  let writes = 0;
  const died = Promise.withResolvers<void>();
  const dying = world.instance({
    gate: async () => {
      writes += 1;
      if (writes < 3) return;
      died.resolve();
      await new Promise(() => undefined);
    },
  });
  await world.clock.runUntil(Promise.race([dying.evaluator.perform({ id: executor }, live), died.promise]));
  await world.tick();
  expect(await state(executor)).toBe("unknown");
  await world.clock.advance(16 * minute);
  await world.tick();
  expect(await state(executor)).toBe("update");
});
