import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { PluginError } from "../../src/errors.ts";
import { outageView } from "../../src/executors/outage-schema.ts";
import { plain, say } from "../../src/messages/message.ts";
import { stabilityMs } from "../../src/runtimes/session.ts";
import { createWorld, digest, type Instance, makeDue, release, type World } from "../support/run-world.ts";

// Many runs in turn: on a busy machine they take minutes.
setDefaultTimeout(300_000);

const live = new AbortController().signal;
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const portTaken = new PluginError("rejected", plain("Start: port 80 is already allocated"));

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

/** Neither version can be started, as when somebody else has the port. */
function takePort(): void {
  world.engine.failures.set("start", portTaken);
  world.engine.failures.set("undo", portTaken);
}

function freePort(): void {
  world.engine.failures.clear();
}

async function goDown(executor: string): Promise<string> {
  takePort();
  const run = await world.update(executor);
  expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none", lease_owner: null });
  return run.id;
}

async function performDue(at: Instance = world.main): Promise<number> {
  const due = await at.runs.work.due(world.clock.now(), 10);
  for (const item of due) await world.clock.runUntil(at.runs.work.perform(item, live));
  return due.length;
}

const outageOf = async (id: string) => outageView(await world.run(id));
const kindsOf = async () => (await world.events()).map(({ kind }) => kind);

/** Ticks until nothing is owed any more; answers the pauses between the tries in seconds. */
async function tryUntilOver(id: string, limitMs: number): Promise<number[]> {
  const pauses: number[] = [];
  for (const end = world.clock.now() + limitMs; world.clock.now() < end; ) {
    const { next_try_at: next = null } = (await outageOf(id)) ?? {};
    if (next === null) return pauses;
    pauses.push(Math.round((next - world.clock.now()) / second));
    await world.clock.advance(next - world.clock.now());
    expect(await performDue()).toBe(1);
  }
  throw new Error("The outage has no end");
}

describe("a target that a run left down", () => {
  test("is tried again with a growing pause until it serves, and its end is told once", async () => {
    const executor = await world.addExecutor();
    const id = await goDown(executor);
    const ended = (await world.run(id)).ended_at;
    expect(await outageOf(id)).toMatchObject({ tries: 0, outcome: null, ended_at: null });
    expect(await kindsOf()).toEqual(["executor_run_failed"]);
    for (const pause of [5, 10, 20, 40, 80, 160, 300, 300]) {
      const { next_try_at: next = null } = (await outageOf(id)) ?? {};
      expect(Math.round(((next ?? 0) - world.clock.now()) / second)).toBe(pause);
      await world.clock.advance(pause * second - 1_000);
      expect(await performDue()).toBe(0);
      await world.clock.advance(1_000);
      expect(await performDue()).toBe(1);
    }
    expect(await outageOf(id)).toMatchObject({ tries: 8, detail: expect.stringContaining("already allocated") });
    freePort();
    await tryUntilOver(id, hour);
    const run = await world.run(id);
    expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none", ended_at: ended });
    expect(run).toMatchObject({ lease_owner: null, cleanup_due_at: null, outage_due_at: null });
    const outage = await outageOf(id);
    expect(outage).toMatchObject({ tries: 9, outcome: "recovered", serving: "previous", next_try_at: null });
    expect(run.downtime_ms).toBe((outage?.ended_at ?? 0) - (outage?.since ?? 0));
    expect(world.engine.running()).toEqual(["web"]);
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
    expect(await kindsOf()).toEqual(["executor_run_failed", "executor_target_recovered"]);
    const [, told] = await world.events();
    expect(told?.facts).toMatchObject({
      run: id,
      executor: "web",
      outcome: "recovered",
      serving: "previous",
      tries: 9,
    });
    expect(told?.run_id).toBeNull();
    // Each try is in the journal; of those that failed the result alone.
    const tries = (await world.steps(id)).filter((each) => each.startsWith("bring_up"));
    expect(tries.filter((each) => each === "bring_up begin")).toHaveLength(9);
    expect(tries.filter((each) => each === "bring_up fail")).toHaveLength(8);
    expect(tries.at(-1)).toBe("bring_up finish");
    await world.clock.advance(hour);
    expect(await performDue()).toBe(0);
  });

  test.each([
    ["ten years ahead", 3650],
    ["a day back", -1],
  ])("is watched no longer and no shorter when the clock is set %s meanwhile", async (_where, days) => {
    const id = await goDown(await world.addExecutor());
    freePort();
    const begun = world.clock.elapsed();
    let isSet = false;
    world.engine.judge = (_container, ranMs) => {
      // The first looks are those before the watch.
      if (!isSet && ranMs > 0) {
        world.clock.set(world.clock.now() + days * 24 * hour);
        isSet = true;
      }
      return { ready: ranMs >= stabilityMs && ranMs < minute, detail: plain(`Running for ${ranMs} ms`) };
    };
    await world.clock.advance(5 * second);
    expect(await performDue()).toBe(1);
    expect(await outageOf(id)).toMatchObject({ outcome: "recovered", tries: 1 });
    expect(isSet).toBe(true);
    expect(world.clock.elapsed() - begun).toBeLessThan(minute);
  });

  test("is tried for a day, and once more when the day is over", async () => {
    const id = await goDown(await world.addExecutor());
    const { ended_at: ended } = await world.run(id);
    await world.clock.advance(23 * hour);
    const pauses = await tryUntilOver(id, 2 * hour);
    expect(pauses.slice(1, 8)).toEqual([10, 20, 40, 80, 160, 300, 300]);
    const outage = await outageOf(id);
    expect(outage).toMatchObject({ outcome: "given_up", serving: null, tries: pauses.length });
    expect((outage?.ended_at ?? 0) - (ended ?? 0)).toBeGreaterThanOrEqual(24 * hour);
    expect((outage?.ended_at ?? 0) - (ended ?? 0)).toBeLessThan(24.1 * hour);
    expect(await kindsOf()).toEqual(["executor_run_failed"]);
    expect((await world.steps(id)).filter((each) => each.startsWith("bring_up fail"))).toHaveLength(pauses.length);
    expect(world.logs.join("\n")).toContain("No more attempts to start the target");
    freePort();
    await world.clock.advance(hour);
    expect(await performDue()).toBe(0);
    expect(world.engine.running()).toEqual([]);
  }, 60_000);

  test("that a service away for days finds down is tried once more", async () => {
    const id = await goDown(await world.addExecutor());
    await world.clock.advance(72 * hour);
    freePort();
    expect(await performDue()).toBe(1);
    expect(await outageOf(id)).toMatchObject({ outcome: "recovered", tries: 1 });
  });

  test("that somebody started is left alone and told as recovered", async () => {
    const id = await goDown(await world.addExecutor());
    world.engine.setRunning("web", true);
    const calls = world.engine.calls.length;
    await tryUntilOver(id, minute);
    expect(await outageOf(id)).toMatchObject({ outcome: "recovered", serving: "previous" });
    expect(world.engine.calls.slice(calls).filter((call) => call.startsWith("start"))).toEqual([]);
    expect(await kindsOf()).toEqual(["executor_run_failed", "executor_target_recovered"]);
  });

  test("that somebody removed or made again is not touched any more", async () => {
    for (const change of ["removed", "made again"]) {
      const executor = await world.addExecutor({ name: change });
      const id = await goDown(executor);
      world.engine.containers.delete("web");
      if (change === "made again") world.engine.add("web", "registry.test/app:1.0", digest("a"), { running: false });
      freePort();
      const calls = world.engine.calls.length;
      await tryUntilOver(id, minute);
      expect(await outageOf(id)).toMatchObject({ outcome: "changed", detail: expect.stringContaining("was removed") });
      expect(world.engine.calls.slice(calls).filter((call) => call.startsWith("start"))).toEqual([]);
      world.engine.add("web", "registry.test/app:1.0", digest("a"));
      await world.main.executors.remove(systemActor, executor);
    }
    expect((await kindsOf()).filter((kind) => kind === "executor_target_recovered")).toEqual([]);
  });

  test("ends with a later run of the executor that goes to work, not with one that touches nothing", async () => {
    const executor = await world.addExecutor();
    const id = await goDown(executor);
    world.engine.failures.set("pull", new PluginError("unreachable", plain("No registry")));
    expect((await world.update(executor)).state).toBe("failed");
    expect(await outageOf(id)).toMatchObject({ outcome: null });
    freePort();
    const snapshot = (await world.main.snapshots.list({ executor_id: executor })).items.find(
      (each) => each.run_id === id,
    );
    const second = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(second).toMatchObject({ state: "succeeded", reason_code: "started_again" });
    await tryUntilOver(id, minute);
    expect(await outageOf(id)).toMatchObject({
      outcome: "replaced",
      detail_data: say("runs.replaced_by_run", { run: second.id }),
    });
    expect(world.engine.running()).toEqual(["web"]);
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
  });

  test.each([
    ["years ahead", 3650],
    ["a day back", -1],
  ])("is told apart from an earlier run by a clock that was %s then", async (_where, days) => {
    const executor = await world.addExecutor();
    const right = world.clock.now();
    world.clock.set(right + days * 24 * hour);
    expect((await world.update(executor)).state).toBe("succeeded");
    world.clock.set(right);
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    const id = await goDown(executor);
    expect((await world.main.executors.get(executor)).last_run?.id).toBe(id);
    expect(await world.main.executors.owedParts(await world.main.executors.settings(executor))).toEqual(["web"]);
    freePort();
    await tryUntilOver(id, minute);
    expect(await outageOf(id)).toMatchObject({ outcome: "recovered" });
  });

  test("ends with a later run by a clock that was set back meanwhile", async () => {
    const executor = await world.addExecutor();
    const id = await goDown(executor);
    freePort();
    world.clock.set(world.clock.now() - 24 * hour);
    const second = await world.update(executor);
    expect(second.state).toBe("succeeded");
    await performDue();
    expect(await outageOf(id)).toMatchObject({
      outcome: "replaced",
      detail_data: say("runs.replaced_by_run", { run: second.id }),
    });
  });

  test("ends when the executor or its connection is disabled", async () => {
    const executor = await world.addExecutor();
    const id = await goDown(executor);
    await world.main.executors.update(systemActor, executor, { is_enabled: false });
    freePort();
    await tryUntilOver(id, minute);
    expect(await outageOf(id)).toMatchObject({
      outcome: "disabled",
      detail_data: say("runs.executor_disabled"),
    });
    expect(world.engine.running()).toEqual([]);

    world.engine.setRunning("web", true);
    await world.main.executors.update(systemActor, executor, { is_enabled: true });
    const other = await goDown(executor);
    await world.main.connections.update(systemActor, world.connectionId, { is_enabled: false });
    freePort();
    await world.clock.advance(minute);
    await performDue();
    expect(await outageOf(other)).toMatchObject({ outcome: "disabled", detail_data: say("runs.connection_disabled") });
    expect(world.engine.running()).toEqual([]);
  });

  test("keeps the executor from being deleted until it is disabled", async () => {
    const executor = await world.addExecutor();
    const id = await goDown(executor);
    await expect(world.main.executors.remove(systemActor, executor)).rejects.toMatchObject({
      code: "run_active",
      said: { code: "executors.still_down" },
    });
    await world.main.executors.update(systemActor, executor, { is_enabled: false });
    // At once, not when the next try would have come.
    expect(await performDue()).toBe(1);
    expect(await outageOf(id)).toMatchObject({ outcome: "disabled" });
    await world.main.executors.remove(systemActor, executor);
  });

  test("is not updated unasked meanwhile, which would leave it stopped, but afterwards", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    takePort();
    await world.tick();
    const [failed] = await world.runsOf(executor);
    expect(failed).toMatchObject({ state: "failed", serving: "none" });
    const id = failed?.id ?? "";
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await makeDue(world, executor);
    await world.tick();
    expect(await world.runsOf(executor)).toHaveLength(1);
    freePort();
    await tryUntilOver(id, minute);
    expect((await outageOf(id))?.outcome).toBe("recovered");
    await world.tick();
    const [, next] = await world.runsOf(executor);
    expect(next).toMatchObject({ state: "succeeded", to_tag: "1.2", serving: "desired" });
  });

  test("is not brought up by a run that never touched it, nor one that was down before", async () => {
    const executor = await world.addExecutor();
    world.engine.failures.set("pull", new PluginError("rejected", plain("No such image")));
    const { id } = await world.main.runs.create(systemActor, executor, {});
    const performing = world.main.runs.work.perform({ id }, live);
    await world.clock.runUntil(performing);
    expect(await outageOf(id)).toBeNull();
    world.engine.failures.clear();
    world.engine.setRunning("web", false);
    world.engine.failures.set("create", portTaken);
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", serving: "previous" });
    expect(await outageOf(run.id)).toBeNull();
  });

  test("a rollback that was to start what was down is performed again", async () => {
    const executor = await world.addExecutor();
    await world.update(executor);
    world.engine.setRunning("web", false);
    const [snapshot] = (await world.main.snapshots.list({ executor_id: executor })).items;
    takePort();
    const run = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(run).toMatchObject({ kind: "rollback", state: "failed", reason_code: "target_down" });
    await world.clock.advance(5 * second);
    await performDue();
    expect(await outageOf(run.id)).toMatchObject({ tries: 1, outcome: null });
    expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.1", running: false });
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
    freePort();
    await tryUntilOver(run.id, minute);
    expect(await outageOf(run.id)).toMatchObject({ outcome: "recovered", serving: "desired" });
    // What was restored runs, not what was down before.
    expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.0", running: true });
    expect([...world.engine.containers.keys()]).toEqual(["web"]);
    expect((await kindsOf()).slice(-2)).toEqual(["executor_run_failed", "executor_target_recovered"]);
  });

  test("of which nobody could see how the run left it is looked at when the runtime answers", async () => {
    const executor = await world.addExecutor();
    takePort();
    const { id } = await world.main.runs.create(systemActor, executor, {});
    world.engine.awaited = async () => {
      world.engine.inspectFault = new PluginError("unreachable", plain("Reach the engine: connection refused"));
    };
    await world.clock.runUntil(world.main.runs.work.perform({ id }, live));
    world.engine.inspectFault = null;
    expect(await world.run(id)).toMatchObject({ state: "failed", serving: "unknown" });
    expect(await outageOf(id)).toMatchObject({ tries: 0, outcome: null });
    world.engine.isUnreachable = true;
    await world.clock.advance(5 * second);
    await performDue();
    expect(await outageOf(id)).toMatchObject({ tries: 0, outcome: null });
    world.engine.isUnreachable = false;
    freePort();
    await tryUntilOver(id, minute);
    expect(await outageOf(id)).toMatchObject({ outcome: "recovered", serving: "previous" });
  });
});

describe("a process that is killed at any step of a try", () => {
  test("leaves it to the next, and there is one container and one recovery", async () => {
    const executor = await world.addExecutor();
    const ends: string[] = [];
    for (let at = 1, hasDied = true; hasDied; at++) {
      const id = await goDown(executor);
      freePort();
      await world.clock.advance(5 * second);
      let steps = 0;
      const died = Promise.withResolvers<void>();
      const gate = async (): Promise<void> => {
        steps += 1;
        if (steps < at) return;
        died.resolve();
        await new Promise(() => undefined);
      };
      const dying = world.instance({ gate });
      world.engine.gate = gate;
      await world.clock.runUntil(Promise.race([dying.runs.work.perform({ id }, live), died.promise]));
      world.engine.gate = async () => undefined;
      hasDied = steps >= at;
      for (let round = 0; round < 5 && (await world.run(id)).lease_owner !== null; round++) {
        await world.clock.advance(31 * second);
        await performDue(world.instance());
      }
      await performDue();
      const told = (await world.events()).filter((event) => JSON.stringify(event.facts).includes(id));
      const outage = await outageOf(id);
      ends.push(`${outage?.outcome} ${outage?.serving}`);
      expect([at, ends.at(-1), told.map(({ kind }) => kind)]).toEqual([
        at,
        "recovered previous",
        ["executor_run_failed", "executor_target_recovered"],
      ]);
      expect([at, ...world.engine.containers.keys()]).toEqual([at, "web"]);
      expect(await world.run(id)).toMatchObject({ lease_owner: null, outage_due_at: null, cleanup_due_at: null });
    }
    expect(ends.length).toBeGreaterThan(10);
  }, 60_000);

  test("and several processes try it once", async () => {
    const id = await goDown(await world.addExecutor());
    await world.clock.advance(5 * second);
    const others = [world.instance(), world.instance(), world.instance()];
    await world.clock.runUntil(Promise.all(others.map((each) => each.runs.work.perform({ id }, live))));
    expect(await outageOf(id)).toMatchObject({ tries: 1 });
    expect((await world.steps(id)).filter((each) => each === "bring_up begin")).toHaveLength(1);
  });
});
