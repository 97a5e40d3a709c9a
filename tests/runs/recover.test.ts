import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { english } from "../support/english.ts";
import { createWorld, digest, type Instance, type World } from "../support/run-world.ts";

// Many runs in turn: on a busy machine they take minutes.
setDefaultTimeout(300_000);

const live = new AbortController().signal;
const current = "registry.test/app:1.0";
const desired = "registry.test/app:1.1";

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

/** A process that dies for good at its n-th step: from then on nothing that it began ever goes on. */
function mortal(at: number) {
  let steps = 0;
  const died = Promise.withResolvers<void>();
  const gate = async (): Promise<void> => {
    steps += 1;
    if (steps < at) return;
    died.resolve();
    await new Promise(() => undefined);
  };
  return { gate, died: died.promise, hasDied: () => steps >= at };
}

/** Performs a run in a process that dies at its n-th write or engine call; false when it ended before. */
async function performAndDie(instance: (gate: () => Promise<void>) => Instance, runId: string, at: number) {
  const { gate, died, hasDied } = mortal(at);
  const dying = instance(gate);
  world.engine.gate = gate;
  await world.clock.runUntil(Promise.race([dying.runs.work.perform({ id: runId }, live), died]));
  world.engine.gate = async () => undefined;
  return hasDied();
}

/** What other processes do once the dead one's lease has run out. */
async function bringToEnd(runId: string): Promise<void> {
  const second = world.instance();
  for (let round = 0; round < 5; round++) {
    await world.clock.advance(31_000);
    for (const item of await second.runs.work.due(world.clock.now(), 10)) {
      await world.clock.runUntil(second.runs.work.perform(item, live));
    }
    const run = await world.run(runId);
    if (run.ended_at !== null && run.cleanup_due_at === null) return;
  }
  throw new Error(`The run did not end: ${JSON.stringify(await world.run(runId))}`);
}

async function expectWhole(runId: string, name: string): Promise<string> {
  const run = await world.run(runId);
  const mine = [...world.engine.containers.values()].filter((each) => each.name.startsWith(name));
  const label = `${run.state} ${run.reason_code} ${run.serving}`;
  expect([label, mine.map((each) => [each.name, each.running])]).toEqual([label, [[name, true]]]);
  const image = mine[0]?.image;
  expect([label, image]).toEqual([label, run.serving === "desired" ? desired : current]);
  const events = (await world.events()).filter((event) => event.run_id === runId);
  expect([label, events.length]).toEqual([label, 1]);
  const ends = (await world.steps(runId)).filter((step) => /^(succeeded|degraded|failed|skipped) /.test(step));
  expect([label, ends.length]).toEqual([label, 1]);
  expect(run).toMatchObject({ lease_owner: null, lease_until: null, cleanup_due_at: null });
  return label;
}

/** Kills the process at each step of a run, one after the other, and returns how each of them ended. */
async function killAtEachStep(settings: Record<string, unknown> = {}): Promise<string[]> {
  const ends: string[] = [];
  for (let at = 1; at < 100; at++) {
    const name = `t${String(at).padStart(2, "0")}`;
    world.engine.add(name, current, digest("a"));
    const executor = await world.addExecutor({ name, target: { kind: "container", id: name }, ...settings });
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const hasDied = await performAndDie((gate) => world.instance({ gate }), id, at);
    if (hasDied) await bringToEnd(id);
    ends.push(await expectWhole(id, name));
    if (!hasDied) return ends;
  }
  throw new Error("The run has no end");
}

const counted = (ends: readonly string[]) =>
  Object.fromEntries(
    Map.groupBy(ends, (end) => end)
      .entries()
      .map(([k, v]) => [k, v.length]),
  );

describe("a process that is killed at any step", () => {
  test("leaves one container and one end, the new version after its start and the old one before", async () => {
    const ends = await killAtEachStep();
    const kinds = [...new Set(ends)];
    expect(kinds).toEqual(["succeeded null desired", "failed interrupted previous"]);
    // Before the run moved on it is started again; after the start it goes on; between it is undone.
    expect(ends.length).toBeGreaterThan(25);
    expect(ends.at(-1)).toBe("succeeded null desired");
    expect(ends[0]).toBe("succeeded null desired");
    expect(counted(ends)["failed interrupted previous"]).toBeGreaterThan(10);
  });

  test("puts the previous version back when the health check does not pass", async () => {
    world.engine.judge = (container) =>
      container.image === desired
        ? { ready: false, detail: plain("Exited with code 1"), final: true }
        : { ready: true, detail: plain("Running") };
    const ends = await killAtEachStep();
    expect([...new Set(ends)].sort()).toEqual(["failed interrupted previous", "failed unhealthy previous"]);
  });

  test("puts the previous version back when the new one does not start", async () => {
    world.engine.failures.set("start", new PluginError("rejected", plain("Start: port is taken")));
    const ends = await killAtEachStep();
    expect([...new Set(ends)].sort()).toEqual(["failed interrupted previous", "failed update_failed previous"]);
  });

  test("keeps an unhealthy version that is to be kept", async () => {
    world.engine.judge = (container) =>
      container.image === desired
        ? { ready: false, detail: plain("Slow"), final: true }
        : { ready: true, detail: plain("Running") };
    const ends = await killAtEachStep({ health_check: { strategy: "auto", on_failure: "degraded" } });
    expect([...new Set(ends)].sort()).toEqual(["degraded unhealthy desired", "failed interrupted previous"]);
  });
});

/** Every third step each, so that no test does the work of three. */
test.each([1, 2, 3])(
  "a rollback of a target that is down, killed at any step from %d on, leaves one end",
  async (first) => {
    const ends: string[] = [];
    for (let at = first, hasDied = true; hasDied; at += 3) {
      const name = `d${String(at).padStart(2, "0")}`;
      world.engine.add(name, current, digest("a"));
      const executor = await world.addExecutor({ name, target: { kind: "container", id: name } });
      await world.update(executor);
      world.engine.setRunning(name, false);
      const [snapshot] = (await world.main.snapshots.list({ executor_id: executor })).items;
      const { id } = await world.main.runs.create(systemActor, executor, { snapshot_id: snapshot?.id });
      hasDied = await performAndDie((gate) => world.instance({ gate }), id, at);
      if (hasDied) await bringToEnd(id);
      const run = await world.run(id);
      const label = `${run.state} ${run.reason_code} ${run.serving}`;
      const left = [...world.engine.containers.values()].filter((each) => each.name.startsWith(name));
      // The restored one runs, or the one that was down is in place again, down, and the run says that.
      const whole = run.serving === "desired" ? [name, current, true] : [name, desired, false];
      expect([label, ...left.map((each) => [each.name, each.image, each.running])]).toEqual([label, whole]);
      expect((await world.events()).filter((event) => event.run_id === id)).toHaveLength(1);
      expect(run).toMatchObject({ lease_owner: null, cleanup_due_at: null });
      ends.push(label);
    }
    expect([...new Set(ends)].sort()).toEqual(["failed target_down none", "succeeded started_again desired"]);
    expect(counted(ends)["failed target_down none"]).toBeGreaterThan(2);
  },
  60_000,
);

test("a recovery that is killed at any of its own steps is recovered", async () => {
  for (let at = 1; at < 40; at++) {
    const name = `r${String(at).padStart(2, "0")}`;
    world.engine.add(name, current, digest("a"));
    const executor = await world.addExecutor({ name, target: { kind: "container", id: name } });
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const isStopped = () => world.engine.calls.at(-1) === `stop ${name}`;
    const stopping = Promise.withResolvers<void>();
    world.engine.gate = async () => {
      if (!isStopped()) return;
      stopping.resolve();
      await new Promise(() => undefined);
    };
    const first = world.instance();
    await world.clock.runUntil(Promise.race([first.runs.work.perform({ id }, live), stopping.promise]));
    // The dead process renews nothing any more.
    await world.db.client.execute({
      sql: "update runs set lease_owner = 'dead', lease_until = 0 where id = ?",
      args: [id],
    });
    const hasDied = await performAndDie((gate) => world.instance({ gate }), id, at);
    if (hasDied) await bringToEnd(id);
    expect(await expectWhole(id, name)).toBe("failed interrupted previous");
    if (!hasDied) {
      expect(at).toBeGreaterThan(4);
      return;
    }
  }
  throw new Error("The recovery has no end");
}, 60_000);

describe("recovery", () => {
  const dieAfter = async (call: string): Promise<string> => {
    const executor = await world.addExecutor();
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const reached = Promise.withResolvers<void>();
    world.engine.gate = async () => {
      if (world.engine.calls.at(-1) !== call) return;
      reached.resolve();
      await new Promise(() => undefined);
    };
    await world.clock.runUntil(Promise.race([world.instance().runs.work.perform({ id }, live), reached.promise]));
    world.engine.gate = async () => undefined;
    await world.db.client.execute({
      sql: "update runs set lease_owner = 'dead', lease_until = 0 where id = ?",
      args: [id],
    });
    return id;
  };

  test("waits visibly for an engine that does not answer, and then puts things right", async () => {
    const id = await dieAfter("stop web");
    world.engine.isUnreachable = true;
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "updating", reason_code: "waiting_for_runtime" });
    expect(await world.events()).toEqual([]);
    world.engine.isUnreachable = false;
    await world.clock.advance(11_000);
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "failed", reason_code: "interrupted", serving: "previous" });
    expect(world.engine.running()).toEqual(["web"]);
  });

  test("of an engine that went away in the middle of an update waits for it too", async () => {
    const executor = await world.addExecutor();
    world.engine.gate = async () => {
      if (world.engine.calls.at(-1) === "stop web") world.engine.isUnreachable = true;
    };
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "updating", reason_code: "waiting_for_runtime", lease_owner: null });
    expect(world.engine.running()).toEqual([]);
    world.engine.gate = async () => undefined;
    world.engine.isUnreachable = false;
    await world.clock.advance(11_000);
    await world.tick();
    // The cause is told, not only that the run was taken up again.
    expect(await world.run(run.id)).toMatchObject({ state: "failed", reason_code: "unreachable", serving: "previous" });
    expect(world.engine.running()).toEqual(["web"]);
    expect(await world.events()).toHaveLength(1);
  });

  test("gives an engine up after a day, so that no run is active for ever", async () => {
    const id = await dieAfter("stop web");
    world.engine.isUnreachable = true;
    await world.clock.advance(25 * 60 * 60 * 1000);
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "failed", reason_code: "interrupted", serving: "unknown" });
    expect(await world.events()).toHaveLength(1);
  });

  test("says loudly when neither version can be brought to run", async () => {
    const id = await dieAfter("stop web");
    world.engine.failures.set("undo", new PluginError("rejected", plain("Start: no such device")));
    await world.tick();
    const run = await world.run(id);
    expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none" });
    expect(english(run.reason)).toContain("Target down: neither version is running");
    expect(world.logs.some((line) => line.includes("ERROR") && line.includes("Target down"))).toBe(true);
  });

  test("goes on with the verdict that was stored instead of probing again", async () => {
    const executor = await world.addExecutor();
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const reached = Promise.withResolvers<void>();
    let isDead = false;
    const gate = async () => {
      isDead ||= (await world.steps(id)).includes("verify finish");
      if (!isDead) return;
      reached.resolve();
      await new Promise(() => undefined);
    };
    await world.clock.runUntil(
      Promise.race([world.instance({ gate }).runs.work.perform({ id }, live), reached.promise]),
    );
    world.engine.judge = () => ({ ready: false, detail: plain("Never asked"), final: true });
    await bringToEnd(id);
    expect(await world.run(id)).toMatchObject({ state: "succeeded", serving: "desired" });
  });

  test("takes over at once where the process is known to be the only one", async () => {
    const executor = await world.addExecutor();
    const { id } = await world.main.runs.create(systemActor, executor, {});
    await performAndDie((gate) => world.instance({ gate, id: "before" }), id, 12);
    expect(await world.main.runs.work.due(world.clock.now(), 10)).toEqual([]);
    await world.main.runs.takeOver();
    expect(await world.main.runs.work.due(world.clock.now(), 10)).toEqual([{ id }]);
  });

  test("removes what was kept aside after a run that had ended", async () => {
    world.engine.failures.set("remove_old", new PluginError("unreachable", plain("Connection reset")));
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "succeeded", lease_owner: null });
    expect(run.cleanup_due_at).toBeGreaterThan(world.clock.now());
    expect([...world.engine.containers.keys()].sort()).toEqual(["web", "web-previous"]);
    // The end is the verdict, and stays it: clearing up is owed, and whoever looks at the run sees that.
    const { ended_at, cleanup_due_at } = run;
    expect(await world.main.runs.get(run.id)).toMatchObject({ ended_at, cleanup_due_at });
    world.engine.failures.clear();
    await world.clock.advance(61_000);
    await world.tick();
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
    expect(await world.run(run.id)).toMatchObject({ state: "succeeded", ended_at, cleanup_due_at: null });
    expect(await world.events()).toHaveLength(1);
  });

  test("gives up removing what was kept aside after a day, and says so", async () => {
    world.engine.failures.set("remove_old", new PluginError("rejected", plain("Device or resource busy")));
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    await world.clock.advance(23 * 60 * 60 * 1000);
    await world.tick();
    expect((await world.run(run.id)).cleanup_due_at).toBeGreaterThan(world.clock.now());
    await world.clock.advance(2 * 60 * 60 * 1000);
    await world.tick();
    expect(await world.run(run.id)).toMatchObject({ state: "succeeded", cleanup_due_at: null });
    expect(world.logs.at(-1)).toContain("Containers kept by a run could not be removed");
    expect([...world.engine.containers.keys()].sort()).toEqual(["web", "web-previous"]);
  });

  const dead: [string, () => Promise<unknown> | undefined][] = [
    ["does not answer", async () => (world.engine.isUnreachable = true)],
    ["is disabled", () => world.main.connections.update(systemActor, world.connectionId, { is_enabled: false })],
  ];
  test.each(dead)(
    "gives up removing by a connection that %s after a day, as it cannot be opened any more",
    async (_what, dies) => {
      world.engine.failures.set("remove_old", new PluginError("unreachable", plain("Connection reset")));
      const executor = await world.addExecutor();
      const run = await world.update(executor);
      await dies();
      await world.clock.advance(61_000);
      await world.tick();
      // Tried, and owed for the next time.
      expect((await world.run(run.id)).cleanup_due_at).toBeGreaterThan(world.clock.now());
      await world.clock.advance(25 * 60 * 60 * 1000);
      await world.tick();
      expect(await world.run(run.id)).toMatchObject({ state: "succeeded", cleanup_due_at: null, lease_owner: null });
      expect(await world.main.runs.work.due(world.clock.now() + 25 * 60 * 60 * 1000, 10)).toEqual([]);
      expect(world.logs.at(-1)).toContain("Containers kept by a run could not be removed");
    },
  );

  test("owes nothing any more when the executor is deleted, which a disabled connection allows", async () => {
    world.engine.failures.set("remove_old", new PluginError("unreachable", plain("Connection reset")));
    const executor = await world.addExecutor();
    await world.update(executor);
    await expect(world.main.executors.remove(systemActor, executor)).rejects.toMatchObject({
      said: { code: "executors.still_clearing" },
    });
    await world.main.connections.update(systemActor, world.connectionId, { is_enabled: false });
    await world.main.executors.remove(systemActor, executor);
    await world.main.connections.remove(systemActor, world.connectionId);
    expect(await world.main.runs.work.due(world.clock.now() + 25 * 60 * 60 * 1000, 10)).toEqual([]);
  });

  test("removes later what a run has left over that ended with its target down", async () => {
    world.engine.failures.set("start", new PluginError("rejected", plain("Start: 500")));
    world.engine.failures.set("undo", new PluginError("rejected", plain("Start: 500")));
    world.engine.failures.set("remove_old", new PluginError("rejected", plain("Device or resource busy")));
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({ state: "failed", serving: "none", lease_owner: null });
    // What was made may be needed to bring the target up.
    expect(run.cleanup_due_at).toBeNull();
    world.engine.failures.delete("start");
    world.engine.failures.delete("undo");
    await world.clock.advance(6_000);
    await world.tick();
    expect((await world.run(run.id)).cleanup_due_at).toBeGreaterThan(world.clock.now());
    world.engine.failures.clear();
    await world.clock.advance(61_000);
    await world.tick();
    expect(await world.run(run.id)).toMatchObject({ state: "failed", serving: "none", cleanup_due_at: null });
    expect(await world.steps(run.id)).not.toContain("commit finish");
    expect((await world.events()).filter(({ run_id }) => run_id === run.id)).toHaveLength(1);
  });

  test("removes later what a run that was put back has left over, and counts nothing of it", async () => {
    world.engine.isLeftOver = true;
    world.engine.failures.set("start", new PluginError("rejected", plain("The port is taken")));
    world.engine.failures.set("remove_old", new PluginError("rejected", plain("Device or resource busy")));
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", serving: "previous", lease_owner: null });
    expect(run.cleanup_due_at).toBeGreaterThan(world.clock.now());
    expect(await world.steps(run.id)).not.toContain("commit finish");
    world.engine.failures.clear();
    await world.clock.advance(61_000);
    await world.tick();
    expect(await world.run(run.id)).toMatchObject({ state: "failed", serving: "previous", cleanup_due_at: null });
    expect(await world.events()).toHaveLength(1);
  });
});
