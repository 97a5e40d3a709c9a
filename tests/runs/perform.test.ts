import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { audit_entries, snapshots } from "../../src/db/tables.ts";
import { AppError, PluginError } from "../../src/errors.ts";
import { plain, say } from "../../src/messages/message.ts";
import { stabilityMs } from "../../src/runtimes/session.ts";
import { english } from "../support/english.ts";
import { createWorld, digest, leadTo, release, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const web = () => world.engine.get("web");
const unhealthy = (detail = "Exited with code 1") => {
  world.engine.judge = (container) =>
    container.digest === digest("a")
      ? { ready: true, detail: plain("Running") }
      : { ready: false, detail: plain(detail), final: true };
};

describe("a run", () => {
  test("replaces the container, verifies it, and removes the previous one last", async () => {
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({ state: "succeeded", reason: null, serving: "desired" });
    expect(run).toMatchObject({ from_tag: "1.0", from_digest: digest("a"), to_tag: "1.1", to_digest: digest("b") });
    expect([...world.engine.containers.values()].map(({ name, image, running }) => [name, image, running])).toEqual([
      ["web", "registry.test/app:1.1", true],
    ]);
    expect(world.engine.calls).toEqual([
      "pull registry.test/app:1.1",
      "create web-next",
      "stop web",
      "rename web",
      "rename web-next",
      "start web",
      "remove web-previous",
    ]);
    expect(await world.steps(run.id)).toEqual([
      "queue finish",
      "claim begin",
      "capturing finish",
      "pull begin",
      "pull finish",
      "snapshot begin",
      "snapshot finish",
      "updating finish",
      "create begin",
      "create finish",
      "stop begin",
      "stop finish",
      "rename_old begin",
      "rename_old finish",
      "rename_new begin",
      "rename_new finish",
      "start begin",
      "start finish",
      "verifying finish",
      "verify begin",
      "probe finish",
      "verify finish",
      "commit finish",
      "succeeded finish",
      "remove_old begin",
      "remove_old finish",
    ]);
    expect(run).toMatchObject({ lease_owner: null, lease_until: null, cleanup_due_at: null });
  });

  test("records exactly one event with its facts", async () => {
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    const [event, ...others] = await world.events();
    expect(others).toEqual([]);
    expect(event).toMatchObject({ kind: "executor_run_succeeded", run_id: run.id, executor_id: executor });
    expect(event?.facts).toEqual({
      executor: "web",
      run: run.id,
      kind: "update",
      from: { tag: "1.0", digest: digest("a") },
      to: { tag: "1.1", digest: digest("b") },
      outcome: "succeeded",
      reason: null,
      reason_data: null,
      downtime_ms: 0,
      serving: "desired",
    });
  });

  test("measures the gap from the stop to the start, and until the first probe that passed", async () => {
    const { clock, engine } = world;
    let probes = 0;
    engine.judge = () =>
      ++probes < 3 ? { ready: false, detail: plain("Starting") } : { ready: true, detail: plain("Running") };
    // The engine takes its time between the stop and the end of the start: 700 ms in four calls.
    engine.gate = async () => {
      if (
        engine.calls.some((call) => call.startsWith("stop")) &&
        !engine.calls.some((call) => call.startsWith("start"))
      ) {
        clock.set(clock.now() + 100);
      }
    };
    const run = await world.update(await world.addExecutor());
    expect(run.downtime_ms).toBeGreaterThanOrEqual(500);
    expect(run.downtime_ms).toBeLessThan(1_000);
    // Initial delay 15 s, then two intervals of 5 s.
    expect((run.ready_ms ?? 0) - (run.downtime_ms ?? 0)).toBe(25_000);
  });

  test("of a stopped target updates it without starting it, and says so", async () => {
    world.engine.setRunning("web", false);
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({
      state: "succeeded",
      reason_code: "left_stopped",
      serving: "desired",
      downtime_ms: null,
    });
    expect(web()).toMatchObject({ image: "registry.test/app:1.1", running: false });
    expect(await world.steps(run.id)).not.toContain("verify begin");
  });

  test.each(["create", "rename_new"] as const)(
    "of a stopped target that fails at %s leaves it stopped, and does not say that it runs",
    async (step) => {
      world.engine.setRunning("web", false);
      world.engine.failures.set(step, new PluginError("rejected", plain("Engine: 500")));
      const run = await world.update(await world.addExecutor());
      expect(run).toMatchObject({ state: "failed", reason_code: "update_failed", serving: "previous" });
      expect(english(run.reason)).toEndWith("The previous version is in place, stopped as it was");
      expect(world.engine.running()).toEqual([]);
      expect([...world.engine.containers.keys()]).toEqual(["web"]);
    },
  );

  test("without a health check succeeds when the new one was started", async () => {
    unhealthy();
    const run = await world.update(await world.addExecutor({ health_check: { strategy: "disabled" } }));
    expect(run).toMatchObject({ state: "succeeded", serving: "desired" });
    expect(await world.steps(run.id)).not.toContain("verify begin");
  });

  test("asks the manual probe instead of the engine", async () => {
    world.engine.judge = () => ({ ready: false, detail: plain("Its own health check has not passed yet") });
    const asked: number[] = [];
    world.probe.attempt = async () => {
      asked.push(world.clock.now());
      return asked.length < 3
        ? { ready: false, detail: plain("Answered 503") }
        : { ready: true, detail: plain("Answered 200") };
    };
    const begun = world.clock.now();
    const health_check = {
      strategy: "tcp",
      probe: { host: "web.test", port: 80 },
      initial_delay_seconds: 7,
      probe_interval_seconds: 2,
    };
    const run = await world.update(await world.addExecutor({ health_check }));
    expect(run.state).toBe("succeeded");
    expect(asked.map((at) => at - begun)).toEqual([7_000, 9_000, 11_000]);
  });

  test("leaves an entry of a probe that was blocked", async () => {
    world.probe.attempt = async () => ({
      ready: false,
      detail: say("net.destination_blocked", { entry: null }),
      final: true,
    });
    const health_check = { strategy: "tcp", probe: { host: "web.test", port: 80 } };
    const executor = await world.addExecutor({ health_check });
    const run = await world.update(executor);
    const entries = await world.db.read.select().from(audit_entries);
    expect(entries.filter(({ event }) => event === "destination_blocked")).toMatchObject([
      { actor: "system", outcome: "refused", subject_id: executor, detail: { run: run.id } },
    ]);
  });

  test.each([
    ["fails", { on_failure: "failed" }, "failed", "previous", "registry.test/app:1.0"],
    ["is degraded", { on_failure: "degraded" }, "degraded", "desired", "registry.test/app:1.1"],
  ])(
    "whose container ends after the probe has passed %s with that reason",
    async (_name, more, state, serving, image) => {
      const { engine, clock } = world;
      const begun = clock.now();
      // It answers at once, and the engine restarts it six seconds after its start.
      const ended = {
        ready: false,
        detail: plain('The engine restarted "web" once; the last exit code was 1'),
        final: true,
      } as const;
      engine.judge = (container) =>
        container.digest === digest("b") && clock.now() - begun >= 6_000
          ? ended
          : { ready: true, detail: plain("Running") };
      const health_check = {
        ...{ strategy: "tcp", probe: { host: "web.test", port: 80 } },
        ...{ initial_delay_seconds: 0, probe_interval_seconds: 2, ...more },
      };
      const run = await world.update(await world.addExecutor({ health_check }));
      expect(run).toMatchObject({ state, serving, reason_code: "unhealthy" });
      expect(english(run.reason)).toContain('The engine restarted "web" once; the last exit code was 1');
      expect(run.ready_ms).toBeNull();
      expect(web()).toMatchObject({ image, running: true });
    },
  );

  test("pins the digest in digest mode", async () => {
    await world.update(await world.addExecutor({ reference_mode: "digest" }));
    expect(web().image).toBe(`registry.test/app@${digest("b")}`);
  });

  test("uses edited settings from the next run on", async () => {
    const executor = await world.addExecutor();
    await world.main.executors.update(systemActor, executor, { reference_mode: "digest" });
    const run = await world.update(executor);
    expect(run.state).toBe("succeeded");
    expect(web().image).toBe(`registry.test/app@${digest("b")}`);
  });
});

describe("what fails before anything is touched", () => {
  test.each([
    ["pull", new PluginError("rejected", plain("Pull: manifest unknown")), "pull_failed"],
    ["pull", new PluginError("unreachable", plain("Pull: connection reset")), "unreachable"],
    ["pull", new PluginError("rate_limited", plain("Pull: too many requests")), "rate_limited"],
    ["capture", new PluginError("malformed", plain("Inspect: no JSON")), "snapshot_failed"],
  ] as const)("%s: %s ends failed as %s, with the previous version serving", async (step, error, code) => {
    world.engine.failures.set(step, error);
    const before = web();
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({ state: "failed", reason_code: code, serving: "previous", downtime_ms: null });
    expect(english(run.reason)).toContain("The previous version is running");
    expect(web()).toEqual(before);
    expect(await world.events()).toHaveLength(1);
  });

  test("an engine that does not answer", async () => {
    world.engine.isUnreachable = true;
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({ state: "failed", reason_code: "unreachable", serving: "unknown" });
  });

  test("a plan that is not the one that was consented to", async () => {
    const executor = await world.addExecutor();
    const view = await world.main.executors.plan(executor, live);
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    const run = await world.update(executor, { plan_hash: view.plan?.hash });
    expect(run).toMatchObject({ state: "failed", reason_code: "target_changed" });
    expect(world.engine.calls).toEqual([]);
  });

  test("a target that somebody else updated meanwhile", async () => {
    const executor = await world.addExecutor();
    const view = await world.main.executors.plan(executor, live);
    world.engine.add("web", "registry.test/app:1.1", digest("b"));
    const run = await world.update(executor, { plan_hash: view.plan?.hash });
    expect(run).toMatchObject({ state: "failed", reason_code: "target_changed" });
  });

  test("the consented plan is performed when nothing changed", async () => {
    const executor = await world.addExecutor();
    const view = await world.main.executors.plan(executor, live);
    const run = await world.update(executor, { plan_hash: view.plan?.hash });
    expect(run).toMatchObject({ state: "succeeded", plan_hash: view.plan?.hash });
  });
});

describe("restore on failure", () => {
  test("puts the previous version back when the new one is unhealthy", async () => {
    unhealthy();
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "previous" });
    expect(english(run.reason)).toBe(
      "The new version did not pass its health check: Exited with code 1. The previous version is running",
    );
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
    expect(web()).toMatchObject({ image: "registry.test/app:1.0", running: true });
    expect((await world.events())[0]).toMatchObject({ kind: "executor_run_failed" });
  });

  test("puts the previous version back as soon as the new one ends, before any probe", async () => {
    const check = { strategy: "http", initial_delay_seconds: 3_600 };
    const probe = { protocol: "http", host: "app.test", port: 80, path: "/", method: "GET" };
    world.engine.end = () => "Container was removed";
    const run = await world.update(await world.addExecutor({ health_check: { ...check, probe } }));
    expect(run).toMatchObject({
      state: "failed",
      serving: "previous",
      reason: say("runs.with_serving", {
        reason: say("runs.unhealthy", { kind: "update", cause: plain("Container was removed") }),
        ...{ kind: "update", serving: "previous", is_resting: false },
      }),
    });
    const steps = await world.steps(run.id);
    expect(steps.slice(steps.indexOf("verify begin"), steps.indexOf("undo begin"))).toEqual([
      "verify begin",
      "verify fail",
      "failure fail",
    ]);
  });

  test("keeps the unhealthy version where it is off", async () => {
    unhealthy();
    const run = await world.update(await world.addExecutor({ restore_on_failure: false }));
    expect(run).toMatchObject({ state: "failed", reason_code: "unhealthy", serving: "desired" });
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
  });

  test("degraded keeps the new version and is told as an update that was made", async () => {
    unhealthy();
    const run = await world.update(
      await world.addExecutor({ health_check: { strategy: "auto", on_failure: "degraded" } }),
    );
    expect(run).toMatchObject({ state: "degraded", reason_code: "unhealthy", serving: "desired" });
    const [event] = await world.events();
    expect(event?.kind).toBe("executor_run_succeeded");
    expect(event?.facts).toMatchObject({ outcome: "degraded" });
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
  });

  test.each(["create", "stop", "rename_old", "rename_new", "start"] as const)(
    "puts the previous version back when %s fails, also where it is off",
    async (step) => {
      world.engine.failures.set(step, new PluginError("rejected", plain("Engine: 500")));
      const run = await world.update(await world.addExecutor({ restore_on_failure: false }));
      expect(run).toMatchObject({ state: "failed", reason_code: "update_failed", serving: "previous" });
      expect([...world.engine.containers.values()].map(({ name, image, running }) => [name, image, running])).toEqual([
        ["web", "registry.test/app:1.0", true],
      ]);
    },
  );

  test("says loudly when the previous version cannot be brought back either", async () => {
    world.engine.failures.set("start", new PluginError("rejected", plain("Start: 500")));
    world.engine.failures.set("undo", new PluginError("rejected", plain("Start: 500")));
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none" });
    expect(JSON.stringify(run.reason)).toContain('"runs.not_undone"');
    expect(english(run.reason)).toContain("Target down");
    expect((await world.events())[0]?.facts).toMatchObject({ serving: "none" });
  });

  test("keeps secrets out of reasons and steps", async () => {
    world.engine.failures.set("start", new PluginError("rejected", plain("Start: login hunter2-token was refused")));
    const run = await world.update(await world.addExecutor());
    const stored = JSON.stringify([run, await world.main.runs.get(run.id), await world.events()]);
    expect(stored).not.toContain("hunter2-token");
    expect(english(run.reason)).toContain("[redacted]");
  });
});

describe("a skipped run", () => {
  const skipped = async (code: string, executor: string, input?: unknown) => {
    const run = await world.update(executor, input);
    expect(run).toMatchObject({ state: "skipped", reason_code: code });
    expect(english(run.reason)).toMatch(/^[A-Z"].*[^.]$/);
    expect(world.engine.calls.filter((call) => !call.startsWith("pull"))).toEqual([]);
    const events = await world.events();
    expect(events.map((event) => event.kind)).toEqual(["executor_run_skipped"]);
    return run;
  };

  test("already_current: the desired image runs", async () => {
    world.upstream.choice = { release: release("1.0", "a"), ready_at: null };
    await skipped("already_current", await world.addExecutor());
  });

  test("already_current: only the pull told that it is the same image", async () => {
    world.engine.aliases.set(digest("b"), digest("a"));
    await skipped("already_current", await world.addExecutor());
  });

  test("target_missing", async () => {
    const executor = await world.addExecutor();
    world.engine.containers.clear();
    await skipped("target_missing", executor);
  });

  test("target_refused", async () => {
    world.engine.refusals = [{ code: "auto_remove", message: plain("It removes itself when it stops") }];
    const run = await skipped("target_refused", await world.addExecutor());
    expect(english(run.reason)).toContain("It removes itself when it stops");
  });

  test("connection_disabled", async () => {
    const executor = await world.addExecutor();
    await world.main.connections.update(systemActor, world.connectionId, { is_enabled: false });
    await skipped("connection_disabled", executor);
  });

  test("executor_disabled", async () => {
    await skipped("executor_disabled", await world.addExecutor({ is_enabled: false }));
  });

  test("window_closed: a manual run that is not to ignore the window", async () => {
    const window = { days: ["monday"], start: "22:00", end: "02:00" };
    await skipped("window_closed", await world.addExecutor({ trigger: "window", window }), { ignore_window: false });
  });

  test("no_release", async () => {
    world.upstream.choice = { release: null, ready_at: null };
    await skipped("no_release", await world.addExecutor());
  });

  test("too_young", async () => {
    world.upstream.choice = { release: null, ready_at: world.clock.now() + 1 };
    await skipped("too_young", await world.addExecutor({ minimum_age_hours: 24 }));
  });

  test("no_image: the digest that is to be pinned is unknown", async () => {
    world.upstream.choice = { release: { ...release("1.1", "b"), digest: null }, ready_at: null };
    await skipped("no_image", await world.addExecutor({ reference_mode: "digest" }));
  });

  test.each([
    ["a lower version", "0.9"],
    ["one that cannot be compared", "nightly"],
  ])("would_downgrade: %s", async (_name, tag) => {
    world.upstream.choice = { release: release(tag, "c"), ready_at: null };
    await skipped("would_downgrade", await world.addExecutor());
  });

  test("a downgrade is made where it is allowed, and where its plan was consented to", async () => {
    world.upstream.choice = { release: release("0.9", "c"), ready_at: null };
    const executor = await world.addExecutor();
    const view = await world.main.executors.plan(executor, live);
    expect(view).toMatchObject({ is_downgrade: true, unmet: null });
    expect((await world.update(executor, { plan_hash: view.plan?.hash })).state).toBe("succeeded");
    world.upstream.choice = { release: release("0.8", "d"), ready_at: null };
    await world.main.executors.update(systemActor, executor, { allow_downgrade: true });
    expect((await world.update(executor)).state).toBe("succeeded");
  });
});

describe("one run at a time", () => {
  test("a second click is refused with the id of the run that is going on", async () => {
    const executor = await world.addExecutor();
    const clicks = await Promise.allSettled([
      world.main.runs.create(systemActor, executor, {}),
      world.main.runs.create(systemActor, executor, {}),
      world.instance().runs.create(systemActor, executor, {}),
    ]);
    const made = clicks.flatMap((click) => (click.status === "fulfilled" ? [click.value.id] : []));
    expect(made).toHaveLength(1);
    for (const click of clicks.filter((each) => each.status === "rejected")) {
      if (!(click.reason instanceof AppError)) throw click.reason;
      expect(click.reason).toMatchObject({ code: "run_active", status: 409 });
      expect(click.reason.fields).toEqual({ active_run_id: made[0] ?? "" });
    }
    expect(await world.runsOf(executor)).toHaveLength(1);
  });

  test("two ticks and two processes perform a run once", async () => {
    const executor = await world.addExecutor();
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const second = world.instance();
    const all = Promise.all([
      world.main.runs.work.perform({ id }, live),
      world.main.runs.work.perform({ id }, live),
      second.runs.work.perform({ id }, live),
    ]);
    await world.clock.runUntil(all);
    expect((await world.run(id)).state).toBe("succeeded");
    expect(world.engine.calls.filter((call) => call === "stop web")).toHaveLength(1);
    expect(await world.events()).toHaveLength(1);
    expect((await world.steps(id)).filter((step) => step === "claim begin")).toHaveLength(1);
  });

  test.each([true, false])(
    "of one engine: another waits as pending, and says for what, by the same connection (%p) or a twin",
    async (isSame) => {
      world.engine.add("db", "registry.test/app:1.0", digest("a"));
      const first = await world.addExecutor();
      const alike = { name: "Home again", kind: "docker", config: { address: "fake://twin" } };
      const twin = await world.main.connections.create(systemActor, alike);
      await leadTo(world, twin.id, "fake://home");
      const connection_id = isSame ? world.connectionId : twin.id;
      const second = await world.addExecutor({ name: "db", connection_id, target: { kind: "container", id: "db" } });
      const a = await world.main.runs.create(systemActor, first, {});
      const b = await world.main.runs.create(systemActor, second, {});
      const pulling = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      world.engine.gate = async () => {
        pulling.resolve();
        await goOn.promise;
      };
      const going = world.main.runs.work.perform({ id: a.id }, live);
      await pulling.promise;
      await world.main.runs.work.perform({ id: b.id }, live);
      const waiting = await world.run(b.id);
      expect(waiting).toMatchObject({ state: "pending", reason_code: "waiting_for_connection", lease_owner: null });
      expect(waiting.reason).toMatchObject({ params: { run: a.id } });
      // Told once; from then on it is not even asked for while the connection is busy, and others are.
      expect(await world.main.runs.work.due(world.clock.now(), 10)).toEqual([]);
      goOn.resolve();
      await world.clock.runUntil(going);
      await world.tick();
      expect(await world.run(b.id)).toMatchObject({ state: "succeeded", reason: null });
    },
  );

  test.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [10, 4],
  ])("of a connection that takes %i at once, %i of four are going on, the oldest first", async (limit, going) => {
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      world.engine.add(name, "registry.test/app:1.0", digest("a"));
      const executor = await world.addExecutor({ name, target: { kind: "container", id: name } });
      world.clock.set(world.clock.now() + 1_000);
      ids.push((await world.main.runs.create(systemActor, executor, {})).id);
    }
    await world.main.connections.update(systemActor, world.connectionId, { concurrent_runs: limit });
    const goOn = Promise.withResolvers<void>();
    let pulling = 0;
    const reached = Promise.withResolvers<void>();
    world.engine.gate = async () => {
      pulling += 1;
      if (pulling === going) reached.resolve();
      await goOn.promise;
    };
    // Two processes, each with all that is due, in the wrong order: the place in the queue counts, not who asks first.
    const others = world.instance({ id: "other" });
    const performing: Promise<void>[] = [];
    const tick = async () => {
      for (const { id } of (await world.main.runs.work.due(world.clock.now(), 10)).toReversed()) {
        performing.push(world.main.runs.work.perform({ id }, live), others.runs.work.perform({ id }, live));
      }
    };
    await tick();
    for (let times = 0; times < 4; times += 1) await tick();
    await reached.promise;
    const found = await Promise.all(ids.map((id) => world.run(id)));
    expect(found.map((run) => run.lease_owner !== null)).toEqual(ids.map((_, index) => index < going));
    for (const run of found.slice(going)) {
      expect(run).toMatchObject({ state: "pending", reason_code: "waiting_for_connection" });
      expect(run.reason).toMatchObject({ code: "runs.waits_for_run", params: { connection: "Home" } });
    }
    goOn.resolve();
    await world.clock.runUntil(Promise.all(performing));
    for (let left = going; left < 4; left += 1) await world.tick();
    const ended = await Promise.all(ids.map((id) => world.run(id)));
    expect(ended.map((run) => run.state)).toEqual(["succeeded", "succeeded", "succeeded", "succeeded"]);
    const order = ended.map((run) => run.started_at ?? 0);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(world.engine.calls.filter((call) => call.startsWith("stop"))).toHaveLength(4);
  });

  test("of a pending run whose process ends each time, the third is the last", async () => {
    const executor = await world.addExecutor();
    const { id } = await world.main.runs.create(systemActor, executor, {});
    for (let time = 0; time < 2; time++) {
      let writes = 0;
      const died = Promise.withResolvers<void>();
      const gate = async () => {
        writes += 1;
        if (writes < 3) return;
        died.resolve();
        await new Promise(() => undefined);
      };
      await world.clock.runUntil(
        Promise.race([world.instance({ gate }).runs.work.perform({ id }, live), died.promise]),
      );
      expect(await world.run(id)).toMatchObject({ state: "pending" });
      await world.clock.advance(31_000);
    }
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "failed", reason_code: "interrupted" });
  });
});

test("a fault of our own ends a run after two tries, and names it", async () => {
  const executor = await world.addExecutor();
  const { id } = await world.main.runs.create(systemActor, executor, {});
  world.engine.inspectFault = new TypeError("Cannot read properties of undefined");
  for (let time = 0; time < 3; time++) {
    await world.clock.runUntil(world.main.runs.work.perform({ id }, live));
    await world.clock.advance(11_000);
  }
  const run = await world.run(id);
  expect(run).toMatchObject({ state: "failed", reason_code: "internal_error" });
  expect(english(run.reason)).toContain("Cannot read properties of undefined");
  expect(await world.events()).toHaveLength(1);
});

describe("the pull", () => {
  const credential = async () =>
    (
      await world.credentials.create(systemActor, {
        name: "registry",
        kind: "oci",
        secret: { username: "robot", password: "pull-secret-word" },
      })
    ).id;

  test("uses the login of the source's credential at its own registry, and leaves no trace of it", async () => {
    const id = await credential();
    await world.db.client.execute({ sql: "update tracker_sources set credential_id = ?", args: [id] });
    const run = await world.update(await world.addExecutor());
    expect(world.engine.pulls).toEqual([
      {
        reference: "registry.test/app:1.1",
        auth: { username: "robot", password: "pull-secret-word", host: "registry.test" },
      },
    ]);
    const stored = JSON.stringify([run, await world.main.runs.get(run.id), await world.events(), world.logs]);
    expect(stored).not.toContain("pull-secret-word");
  });

  test("of another registry gets no login", async () => {
    const id = await credential();
    await world.db.client.execute({ sql: "update tracker_sources set credential_id = ?", args: [id] });
    world.upstream.image = "other.test/app";
    await world.update(await world.addExecutor());
    expect(world.engine.pulls[0]?.auth).toBeNull();
  });
});

test("the end of the process leaves a run at a safe point for the next start", async () => {
  const executor = await world.addExecutor();
  const { id } = await world.main.runs.create(systemActor, executor, {});
  const stop = new AbortController();
  // The health check has begun: the new one was started, the previous one is aside.
  const performing = world.main.runs.work.perform({ id }, stop.signal);
  while (!(await world.steps(id)).includes("verify begin")) await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error("The service ends"));
  await world.clock.runUntil(performing);
  expect(await world.run(id)).toMatchObject({ state: "verifying", lease_owner: null });
  expect([...world.engine.containers.keys()].sort()).toEqual(["web", "web-previous"]);
  await world.tick(world.instance());
  expect(await world.run(id)).toMatchObject({ state: "succeeded", serving: "desired" });
  expect(await world.events()).toHaveLength(1);
});

test("the end of the process cuts short what an update waits for, and the next process recovers it", async () => {
  const { clock, engine } = world;
  const executor = await world.addExecutor();
  const { id } = await world.main.runs.create(systemActor, executor, {});
  const stop = new AbortController();
  const waiting = Promise.withResolvers<void>();
  engine.awaited = async (stopping) => {
    waiting.resolve();
    await clock.sleep(60 * 60 * 1000, stopping);
  };
  const begun = clock.now();
  const performing = world.main.runs.work.perform({ id }, stop.signal);
  await waiting.promise;
  stop.abort(new Error("The process is ending"));
  await performing;
  expect(clock.now()).toBe(begun);
  // Given back as it is: nothing was put back, and nothing has ended.
  expect(await world.run(id)).toMatchObject({ state: "updating", lease_owner: null, reason: null });
  expect(await world.steps(id)).not.toContain("undo begin");
  expect(await world.events()).toEqual([]);
  engine.awaited = async () => undefined;
  await world.tick(world.instance());
  expect(await world.run(id)).toMatchObject({ state: "failed", reason_code: "interrupted", serving: "previous" });
  expect([...engine.containers.keys()]).toEqual(["web"]);
});

test("the end of the process cuts short the stability period, which the next process observes to its end", async () => {
  const { clock } = world;
  const health_check = {
    ...{ strategy: "tcp", probe: { host: "web.test", port: 80 } },
    ...{ initial_delay_seconds: 0, probe_interval_seconds: 2 },
  };
  const executor = await world.addExecutor({ health_check });
  const { id } = await world.main.runs.create(systemActor, executor, {});
  const stop = new AbortController();
  const probed = Promise.withResolvers<void>();
  world.probe.attempt = async () => {
    probed.resolve();
    return { ready: true, detail: plain("Answered") };
  };
  const performing = world.main.runs.work.perform({ id }, stop.signal);
  await clock.runUntil(probed.promise);
  while (!(await world.steps(id)).includes("probe finish")) await new Promise((resolve) => setImmediate(resolve));
  const begun = clock.now();
  stop.abort(new Error("The process is ending"));
  await performing;
  expect(clock.now()).toBe(begun);
  expect(await world.run(id)).toMatchObject({ state: "verifying", lease_owner: null });
  await world.tick(world.instance());
  expect(clock.now() - begun).toBeGreaterThanOrEqual(10_000);
  expect(await world.run(id)).toMatchObject({ state: "succeeded", serving: "desired" });
});

test.each([
  ["ten years ahead", 3650],
  ["a day back", -1],
])("a clock that is set %s while a target is watched neither passes nor fails it", async (_where, days) => {
  const { clock, engine } = world;
  const begun = clock.elapsed();
  let isSet = false;
  engine.judge = (_container, ranMs) => {
    if (!isSet) clock.set(clock.now() + days * 86_400_000);
    isSet = true;
    return { ready: ranMs >= stabilityMs && ranMs < 60_000, detail: plain(`Running for ${ranMs} ms`) };
  };
  const health_check = { strategy: "auto", initial_delay_seconds: 0 };
  const run = await world.update(await world.addExecutor({ health_check }));
  expect(run).toMatchObject({ state: "succeeded", serving: "desired" });
  expect(isSet).toBe(true);
  expect(clock.elapsed() - begun).toBeLessThan(60_000);
});

test("a manual run leaves an audit entry", async () => {
  const run = await world.update(await world.addExecutor());
  const entries = await world.db.read.select().from(audit_entries);
  expect(entries.map((entry) => [entry.event, entry.subject_id])).toContainEqual(["run_started", run.id]);
});

test("a snapshot is stored encrypted before the target is touched", async () => {
  await world.update(await world.addExecutor());
  const [row] = await world.db.read.select().from(snapshots);
  expect(row).toMatchObject({ reference: "registry.test/app:1.0", digest: digest("a") });
  expect(row?.sealed_content).toStartWith("gAAAAA");
  expect(JSON.stringify(row)).not.toContain("correct-horse");
});
