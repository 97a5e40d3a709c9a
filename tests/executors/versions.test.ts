import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { seen_versions } from "../../src/db/tables.ts";
import { plain } from "../../src/messages/message.ts";
import { storeTracker } from "../support/run-parts.ts";
import { createWorld, digest, makeDue, release, type World } from "../support/run-world.ts";

const hour = 3_600_000;
const live = new AbortController().signal;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const evaluate = async (executor: string, at = world.main) => {
  await makeDue(world, executor);
  await world.clock.runUntil(at.evaluator.perform({ id: executor }, live));
};
const spans = async (executor: string) =>
  (await world.main.executors.versions(executor)).map(({ service, tag, cause }) => [service, tag, cause]);

describe("the versions that an executor's services run", () => {
  test("are stored when they change: first seen, by a run, by others, rolled back", async () => {
    const executor = await world.addExecutor();
    const begun = world.clock.now();
    await evaluate(executor);
    await world.clock.advance(hour);
    const run = await world.update(executor);
    await world.clock.advance(hour);
    await evaluate(executor);
    await evaluate(executor);
    await world.clock.advance(hour);
    world.engine.add("web", "registry.test/app:1.2", digest("c"));
    await evaluate(executor);
    const [latest, middle, first] = await world.main.executors.versions(executor);
    expect([latest, middle, first]).toMatchObject([
      { tag: "1.2", cause: "outside", run_id: null, from_at: world.clock.now(), until_at: null },
      { tag: "1.1", cause: "run", run_id: run.id, from_at: run.ended_at, until_at: world.clock.now() },
      { tag: "1.0", cause: "first_seen", run_id: null, from_at: begun, until_at: run.ended_at },
    ]);
    expect(latest?.reference).toBe("registry.test/app:1.2");
    expect(latest?.digest).toBe(digest("c"));
  });

  test("show a rollback, which leads to its run", async () => {
    const executor = await world.addExecutor();
    await evaluate(executor);
    await world.update(executor);
    await evaluate(executor);
    const [snapshot] = (await world.main.snapshots.list({ executor_id: executor })).items;
    const run = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(run.state).toBe("succeeded");
    await evaluate(executor);
    const [latest] = await world.main.executors.versions(executor);
    expect(latest).toMatchObject({ cause: "rolled_back", run_id: run.id, digest: digest("a") });
  });

  test("show what a run left before anybody looked at it, and a rollback of that", async () => {
    const executor = await world.addExecutor();
    await evaluate(executor);
    const forward = await world.update(executor);
    await world.clock.advance(hour);
    const [snapshot] = (await world.main.snapshots.list({ executor_id: executor })).items;
    const back = await world.update(executor, { snapshot_id: snapshot?.id });
    const told = [
      { tag: "1.0", cause: "rolled_back", run_id: back.id, from_at: back.ended_at, until_at: null },
      { tag: "1.1", cause: "run", run_id: forward.id, from_at: forward.ended_at, until_at: back.ended_at },
      { tag: "1.0", cause: "first_seen", run_id: null, until_at: forward.ended_at },
    ];
    expect(await world.main.executors.versions(executor)).toMatchObject(told);
    await evaluate(executor);
    expect(await world.main.executors.versions(executor)).toMatchObject(told);
  });

  test("do not show a run that failed and was undone", async () => {
    const executor = await world.addExecutor();
    await evaluate(executor);
    world.engine.judge = ({ image }) =>
      image.endsWith(":1.1") ? { ready: false, detail: plain(""), final: true } : { ready: true, detail: plain("") };
    expect(await world.update(executor)).toMatchObject({ state: "failed", serving: "previous" });
    await evaluate(executor);
    expect(await spans(executor)).toEqual([["main", "1.0", "first_seen"]]);
  });

  test("are not those of a look that was before the end of a run", async () => {
    const executor = await world.addExecutor();
    await evaluate(executor);
    let writes = 0;
    const gate = async () => {
      writes += 1;
      // Claimed and inspected, but not stored yet.
      if (writes === 3) await world.update(executor);
    };
    await evaluate(executor, world.instance({ gate }));
    expect(await spans(executor)).toEqual([
      ["main", "1.1", "run"],
      ["main", "1.0", "first_seen"],
    ]);
  });

  test("are changed outside if others undo a run after its end", async () => {
    const executor = await world.addExecutor();
    await evaluate(executor);
    await world.update(executor);
    world.engine.add("web", "registry.test/app:1.0", digest("a"));
    await evaluate(executor);
    expect((await spans(executor))[0]).toEqual(["main", "1.0", "outside"]);
  });

  test("are no others under another name for the same content, nor when the digest becomes known", async () => {
    world.engine.add("web", "registry.test/app:1.0", null);
    const executor = await world.addExecutor();
    await evaluate(executor);
    world.engine.add("web", "registry.test/app:1.0", digest("a"));
    await evaluate(executor);
    world.engine.add("web", `registry.test/app@${digest("a")}`, digest("a"));
    await evaluate(executor);
    expect(await world.main.executors.versions(executor)).toMatchObject([{ tag: "1.0", digest: digest("a") }]);
  });

  test("stay as they were while the engine does not respond, and end when the target is gone", async () => {
    const executor = await world.addExecutor();
    await evaluate(executor);
    world.engine.isUnreachable = true;
    await evaluate(executor);
    expect(await spans(executor)).toHaveLength(1);
    world.engine.isUnreachable = false;
    world.engine.containers.delete("web");
    await world.tick();
    await evaluate(executor);
    expect((await world.main.executors.versions(executor))[0]).toMatchObject({ reference: null, cause: "outside" });
  });

  test("keep their order when the clock is set back", async () => {
    const executor = await world.addExecutor();
    await evaluate(executor);
    const begun = world.clock.now();
    world.clock.set(begun - 24 * hour);
    world.engine.add("web", "registry.test/app:1.2", digest("c"));
    await evaluate(executor);
    expect(await world.main.executors.versions(executor)).toMatchObject([
      { tag: "1.2", from_at: begun },
      { tag: "1.0", from_at: begun, until_at: begun },
    ]);
  });

  test("are stored once by two processes", async () => {
    const executor = await world.addExecutor();
    const other = world.instance();
    const both = [world.main, other, world.main].map((at) => at.evaluator.perform({ id: executor }, live));
    await world.clock.runUntil(Promise.all(both));
    expect(await spans(executor)).toEqual([["main", "1.0", "first_seen"]]);
  });

  test("are known from the runs before there was a history", async () => {
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    await world.db.write((tx) => tx.delete(seen_versions).where(eq(seen_versions.executor_id, executor)));
    await evaluate(executor);
    expect(await world.main.executors.versions(executor)).toMatchObject([
      { tag: "1.1", cause: "run", run_id: run.id, from_at: run.ended_at },
    ]);
  });

  test("are kept for the last fifty changes, and removed with the executor", async () => {
    const executor = await world.addExecutor();
    for (let change = 0; change < 55; change += 1) {
      world.engine.add("web", `registry.test/app:2.${change}`, digest((change % 16).toString(16)));
      await evaluate(executor);
    }
    const all = await world.main.executors.versions(executor);
    expect([all.length, all[0]?.tag, all.at(-1)?.tag]).toEqual([50, "2.54", "2.5"]);
    expect(await world.main.executors.versionsUnder(`tracker-${world.sourceId}`)).toHaveLength(50);
    await world.main.executors.remove(systemActor, executor);
    expect(await world.db.read.select().from(seen_versions)).toEqual([]);
  });
});

test("each service of a group has its own history", async () => {
  world.engine.add("shop-web-1", "registry.test/app:1.0", digest("a"), { project: "shop", service: "web" });
  world.engine.add("shop-worker-1", "registry.test/app:1.0", digest("a"), { project: "shop", service: "worker" });
  const bindings = ["web", "worker"].map((service) => ({ service, tracker: "app", source: "main", channel: "stable" }));
  const executor = await world.addExecutor({ target: { kind: "compose", id: "shop" }, bindings });
  await evaluate(executor);
  world.upstream.choice = { release: release("1.1", "b"), ready_at: null };
  const run = await world.update(executor);
  await evaluate(executor);
  world.engine.add("shop-worker-1", "registry.test/app:1.2", digest("c"), { project: "shop", service: "worker" });
  await evaluate(executor);
  const found = await world.main.executors.versions(executor);
  expect(found.map(({ service, tag, cause, run_id }) => [service, tag, cause, run_id])).toEqual([
    ["worker", "1.2", "outside", null],
    ["worker", "1.1", "run", run.id],
    ["web", "1.1", "run", run.id],
    ["worker", "1.0", "first_seen", null],
    ["web", "1.0", "first_seen", null],
  ]);
});

test("a tracker has the histories of the services that follow it", async () => {
  world.engine.add("other", "registry.test/app:0.9", digest("9"));
  await storeTracker(world.db, { name: "else", source: "else" }, world.clock.now());
  const web = await world.addExecutor();
  const other = await world.addExecutor({ name: "other", target: { kind: "container", id: "other" } });
  const apart = await world.addExecutor({
    ...{ name: "apart", target: { kind: "container", id: "apart" } },
    bindings: [{ tracker: "else", source: "main", channel: "stable" }],
  });
  world.engine.add("apart", "registry.test/app:1.0", digest("a"));
  for (const executor of [web, other, apart]) await evaluate(executor);
  const run = await world.update(other);
  const found = await world.main.executors.versionsUnder(`tracker-${world.sourceId}`);
  expect(found.map(({ executor, tag, run_id, until_at }) => [executor, tag, run_id, until_at])).toEqual([
    ["other", "1.1", run.id, null],
    ["other", "0.9", null, run.ended_at],
    ["web", "1.0", null, null],
  ]);
});
