import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { runs } from "../../src/db/tables.ts";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { english } from "../support/english.ts";
import { createWorld, digest, release, type World } from "../support/run-world.ts";

let world: World;
let executor: string;
beforeEach(async () => {
  world = await createWorld();
  const { engine } = world;
  engine.add("shop-web-1", "registry.test/app:1.0", digest("a"), { project: "shop", service: "web" });
  engine.add("shop-worker-1", "registry.test/app:1.0", digest("a"), { project: "shop", service: "worker" });
  engine.add("shop-cron-1", "registry.test/cron:9", digest("9"), { project: "shop", service: "cron", shares: "web" });
  engine.add("shop-once-1", "registry.test/once:1", digest("8"), { project: "shop", service: "once", running: false });
  const bind = (service: string) => ({ service, tracker: "app", source: "main", channel: "stable" });
  const created = await world.main.executors.create(systemActor, {
    name: "shop",
    connection_id: world.connectionId,
    target: { kind: "compose", id: "shop" },
    bindings: ["web", "worker"].map(bind),
    trigger: "manual",
  });
  executor = created.id;
});
afterEach(() => world.close());

const outcomes = async (id: string) =>
  (await world.main.runs.get(id)).containers.map(({ container, outcome }) => [container, outcome]);

describe("a run on a group", () => {
  test("tells what was done to each container, in the order of the plan", async () => {
    const run = await world.update(executor);
    // A service that stood still before and is bound to nothing does not make the target down.
    expect(run).toMatchObject({ state: "succeeded", serving: "desired" });
    expect(new Map((await outcomes(run.id)).map(([name, outcome]) => [name, outcome]))).toEqual(
      new Map([
        ["shop-web-1", "updated"],
        ["shop-worker-1", "updated"],
        ["shop-cron-1", "moved"],
      ]),
    );
  });

  test("that fails at one container names it, and says of each that it was put back or not touched", async () => {
    world.engine.failures.set("start shop-worker-1", new PluginError("rejected", plain("The port is taken")));
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "failed", serving: "previous", reason_code: "update_failed" });
    expect(english(run.reason)).toContain('The update failed at "shop-worker-1": The port is taken');
    const view = await world.main.runs.get(run.id);
    const worker = view.containers.find(({ container }) => container === "shop-worker-1");
    expect(worker).toMatchObject({ outcome: "put_back", service: "worker" });
    expect(worker?.detail).toContain("The port is taken");
    expect(view.containers.filter(({ outcome }) => outcome !== "put_back" && outcome !== "untouched")).toEqual([]);
  });
});

test("a run that leaves one service down says which, and that the others run", async () => {
  const { engine } = world;
  engine.failures.set("start shop-worker-1", new PluginError("rejected", plain("The port is taken")));
  engine.failures.set("undo", new PluginError("rejected", plain("The engine refused")));
  const run = await world.update(executor);
  expect(run).toMatchObject({ state: "failed", serving: "none", reason_code: "target_down" });
  expect(engine.running()).toContain("shop-web-1");
  expect(run.reason).toMatchObject({ code: "runs.partly_down", params: { services: ["worker"] } });
});

test("runs whose plans share a container are not at work at once, however many the connection takes", async () => {
  await world.main.connections.update(systemActor, world.connectionId, { concurrent_runs: 4 });
  world.engine.add("web", "registry.test/app:1.0", digest("a"));
  const single = await world.addExecutor();
  const [first, second] = await Promise.all(
    [executor, single].map((id) => world.main.runs.create(systemActor, id, {})),
  );
  if (first === undefined || second === undefined) throw new Error("Two runs were created");
  // As the plan of the first would say if "web" shared a network with one of the group.
  const pulling = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.engine.gate = async () => {
    pulling.resolve();
    await goOn.promise;
  };
  const live = new AbortController().signal;
  const going = world.main.runs.work.perform({ id: first.id }, live);
  await pulling.promise;
  const plan = (await world.run(first.id)).plan ?? {};
  const containers = [{ name: "web", service: "", because: "shares", is_running: true }];
  await world.db.write((tx) =>
    tx
      .update(runs)
      .set({ plan: { ...plan, detail: { containers } } })
      .where(eq(runs.id, first.id)),
  );
  await world.main.runs.work.perform({ id: second.id }, live);
  const waiting = await world.run(second.id);
  expect(waiting).toMatchObject({ state: "pending", reason_code: "waiting_for_connection", lease_owner: null });
  expect(english(waiting.reason)).toBe(`Waiting for the run of "shop", which is changing "web"`);
  expect(world.engine.calls.filter((call) => call.includes(" web"))).toEqual([]);
  const now = world.clock.now();
  expect(waiting.due_at).toBe(now + 5_000);
  // Each attempt is journalled, and a journal is bounded.
  const wait = { created_at: now - 3_600_000, due_at: now };
  await world.db.write((tx) => tx.update(runs).set(wait).where(eq(runs.id, second.id)));
  await world.main.runs.work.perform({ id: second.id }, live);
  expect((await world.run(second.id)).due_at).toBe(now + 60_000);
  goOn.resolve();
  await world.clock.runUntil(going);
  await world.clock.advance(60_000);
  await world.tick();
  expect(await world.run(second.id)).toMatchObject({ state: "succeeded", reason: null });
});

test("a run whose kept container cannot be removed holds up no other, and waits with it while one works there", async () => {
  const single = await world.addExecutor();
  world.engine.failures.set("remove_old", new PluginError("rejected", plain("Device is busy")));
  const first = await world.update(single);
  expect(first.cleanup_due_at).toBeGreaterThan(world.clock.now());
  world.engine.containers.delete("web-previous");
  world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
  const second = await world.main.runs.create(systemActor, single, {});
  const pulling = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.engine.gate = async () => {
    pulling.resolve();
    await goOn.promise;
  };
  const live = new AbortController().signal;
  const going = world.main.runs.work.perform({ id: second.id }, live);
  await pulling.promise;
  await world.clock.advance(60_000);
  world.engine.failures.clear();
  await world.main.runs.work.perform({ id: first.id }, live);
  expect((await world.run(first.id)).cleanup_due_at).toBe(first.cleanup_due_at);
  goOn.resolve();
  await world.clock.runUntil(going);
  expect(await world.run(second.id)).toMatchObject({ state: "succeeded", to_tag: "1.2" });
  await world.tick();
  expect((await world.run(first.id)).cleanup_due_at).toBeNull();
});

test("a plan says what the last runs cost, five at most", async () => {
  const id = await world.addExecutor();
  const expected = async () => {
    const plan = await world.main.executors.plan(id, new AbortController().signal);
    return [plan.expected_downtime_ms, plan.expected_downtime_runs];
  };
  expect(await expected()).toEqual([null, 0]);
  const gaps = [9_000, 100, 400, 200, 300, 500];
  for (const [index, gap] of gaps.entries()) {
    world.engine.containers.delete("web");
    world.engine.add("web", "registry.test/app:1.0", digest("a"));
    const before = world.engine.calls.length;
    world.engine.gate = async () => {
      const calls = world.engine.calls.slice(before);
      const isStarting =
        calls.some((call) => call === "rename web-next") && !calls.some((call) => call === "start web");
      if (isStarting && world.engine.containers.get("web")?.running === false)
        world.clock.set(world.clock.now() + gap / 2);
    };
    expect((await world.update(id)).state).toBe("succeeded");
    expect((await expected())[1]).toBe(Math.min(index + 1, 5));
  }
  // The first, which was far slower, counts no more.
  expect((await expected())[0]).toBeLessThan(1_000);
});
