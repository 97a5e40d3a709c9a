import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { PluginError } from "../../src/errors.ts";
import { outageView } from "../../src/executors/outage-schema.ts";
import { plain, say } from "../../src/messages/message.ts";
import { createWorld, digest, release, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
const portTaken = new PluginError("rejected", plain("Start: port 80 is already allocated"));

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

function takePort(): void {
  world.engine.failures.set("start", portTaken);
  world.engine.failures.set("undo", portTaken);
}

const freePort = () => world.engine.failures.clear();

/** A try that is due only later. */
const pass = () => world.clock.advance(5 * 60_000);

async function goDown(executor: string): Promise<string> {
  takePort();
  const run = await world.update(executor);
  expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none" });
  return run.id;
}

async function tryDue(): Promise<void> {
  for (const item of await world.main.runs.work.due(world.clock.now(), 10)) {
    await world.clock.runUntil(world.main.runs.work.perform(item, live));
  }
}

const outcomeOf = async (id: string) => outageView(await world.run(id))?.outcome;

describe("an update by hand of a target that a run left down", () => {
  test("starts what it brings, and tells why", async () => {
    const executor = await world.addExecutor();
    const id = await goDown(executor);
    freePort();
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    expect(await world.update(executor)).toMatchObject({
      ...{ state: "succeeded", reason_code: "started_again", serving: "desired", to_tag: "1.2" },
      reason: say("runs.started_after_outage"),
    });
    await tryDue();
    expect(await outcomeOf(id)).toBe("replaced");
    expect(world.engine.running()).toEqual(["web"]);
    expect(world.engine.get("web").image).toBe("registry.test/app:1.2");
  });

  test("is what its plan says, bound by the plan's hash", async () => {
    const executor = await world.addExecutor();
    await goDown(executor);
    freePort();
    const { plan } = await world.main.executors.plan(executor, live);
    expect(plan?.containers).toMatchObject([{ name: "web", is_running: true }]);
    expect(await world.update(executor, { plan_hash: plan?.hash })).toMatchObject({
      ...{ state: "succeeded", reason_code: "started_again" },
    });
  });

  test("brings the previous version up where its own cannot be started", async () => {
    const executor = await world.addExecutor();
    await goDown(executor);
    freePort();
    world.engine.failures.set("start", portTaken);
    expect(await world.update(executor)).toMatchObject({ state: "failed", serving: "previous" });
    expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.0", running: true });
  });

  test("that leaves it down as well tries on in the place of the earlier run", async () => {
    const executor = await world.addExecutor();
    const first = await goDown(executor);
    const second = await goDown(executor);
    freePort();
    await tryDue();
    expect([await outcomeOf(first), await outcomeOf(second)]).toEqual(["replaced", null]);
    await pass();
    await tryDue();
    expect([await outcomeOf(first), await outcomeOf(second)]).toEqual(["replaced", "recovered"]);
    expect(world.engine.running()).toEqual(["web"]);
  });

  test("that ends before it changes anything leaves the tries to the earlier run", async () => {
    const executor = await world.addExecutor();
    const first = await goDown(executor);
    freePort();
    world.engine.failures.set("create", new PluginError("rejected", plain("No space left on device")));
    const second = await world.update(executor);
    expect(second).toMatchObject({ state: "failed" });
    freePort();
    await tryDue();
    expect([await outcomeOf(first), await outcomeOf(second.id)]).toContain("recovered");
    expect(world.engine.running()).toEqual(["web"]);
  });

  test.each(["given up", "disabled meanwhile"])("starts what it brings also when the tries were %s", async (how) => {
    const executor = await world.addExecutor();
    const id = await goDown(executor);
    if (how === "given up") await world.clock.advance(25 * 60 * 60_000);
    else await world.main.executors.update(systemActor, executor, { is_enabled: false });
    await tryDue();
    expect(await outcomeOf(id)).toBe(how === "given up" ? "given_up" : "disabled");
    if (how !== "given up") await world.main.executors.update(systemActor, executor, { is_enabled: true });
    freePort();
    expect(await world.update(executor)).toMatchObject({ state: "succeeded", reason_code: "started_again" });
    world.engine.setRunning("web", false);
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    expect(await world.update(executor)).toMatchObject({ state: "succeeded", reason_code: "left_stopped" });
  });

  test("leaves a target stopped that somebody stopped", async () => {
    const executor = await world.addExecutor();
    world.engine.setRunning("web", false);
    expect(await world.update(executor)).toMatchObject({ state: "succeeded", reason_code: "left_stopped" });
    expect(world.engine.running()).toEqual([]);
  });
});

describe("a rollback of a target that a run left down", () => {
  test("brings up what it found where it fails itself", async () => {
    world.engine.add("web", "registry.test/app:0.9", digest("f"));
    const executor = await world.addExecutor();
    await world.update(executor);
    const [snapshot] = (await world.main.snapshots.list({ executor_id: executor })).items;
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    const id = await goDown(executor);
    freePort();
    world.engine.failures.set("start", portTaken);
    const run = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(run).toMatchObject({ kind: "rollback", state: "failed", serving: "previous" });
    expect(world.engine.running()).toEqual(["web"]);
    await tryDue();
    expect(await outcomeOf(id)).toBe("replaced");
  });
});
