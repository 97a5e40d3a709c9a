import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { countedTime } from "../../src/counted-time.ts";
import { connections, executors } from "../../src/db/tables.ts";
import { updateDifferences } from "../../src/executors/observation-schema.ts";
import { statsService } from "../../src/stats/service.ts";
import { createWorld, digest, release, type World } from "../support/run-world.ts";

const { signal } = new AbortController();
let world: World;
let connection: string;
beforeEach(async () => {
  world = await createWorld();
  world.engine.add("web", "registry.test/app:1.0", digest("a"));
  connection = world.connectionId;
});
afterEach(() => world.close());

const work = () => world.main.connections.work;
/** What one tick would look at. */
async function look(parts = world.main): Promise<number> {
  const due = await parts.connections.work.due(world.clock.now(), 100);
  for (const item of due) await world.clock.runUntil(parts.connections.work.perform(item, signal));
  return due.length;
}
const reach = async () => (await world.main.connections.get(connection)).reach;
const row = async () => {
  const [found] = await world.db.read.select().from(connections).where(eq(connections.id, connection));
  if (found === undefined) throw new Error("The connection is gone");
  return found;
};
/** Looks until the engine that died is lost. */
async function lose(): Promise<void> {
  world.engine.isUnreachable = true;
  await world.clock.advance(20_000);
  await look();
  await world.clock.advance(5_000);
  await look();
}

describe("looks", () => {
  test("happen every 20 seconds, one for a connection however many executors it has", async () => {
    expect(await look()).toBe(1);
    expect(await look()).toBe(0);
    await world.clock.advance(19_999);
    expect(await look()).toBe(0);
    await world.clock.advance(1);
    expect(await look()).toBe(1);
    expect(await reach()).toMatchObject({ state: "reachable", seen_at: world.clock.now(), problem: null });
  });

  test("are claimed: a second process has nothing to do, and takes over after the lease", async () => {
    const other = await world.instance();
    const [item] = await work().due(world.clock.now(), 1);
    if (item === undefined) throw new Error("Nothing is due");
    await Promise.all([work().perform(item, signal), other.connections.work.perform(item, signal)]);
    const owners = (await row()).lease_owner;
    expect(owners).toBeNull();
    await world.db.write((tx) =>
      tx
        .update(connections)
        .set({ lease_owner: "dead", lease_until: world.clock.now() + 30_000, next_look_at: world.clock.now() }),
    );
    expect(await look(other)).toBe(0);
    await world.clock.advance(30_000);
    expect(await look(other)).toBe(1);
  });

  test("leave disabled connections alone, and one that was enabled again is looked at at once", async () => {
    await world.main.connections.update(systemActor, connection, { is_enabled: false });
    expect(await look()).toBe(0);
    await world.main.connections.update(systemActor, connection, { is_enabled: true });
    expect(await look()).toBe(1);
  });

  test("at another address forget what was found at the former one", async () => {
    await lose();
    await world.main.connections.update(systemActor, connection, { config: { address: "fake://elsewhere" } });
    expect(await reach()).toEqual({ state: "unknown", seen_at: null, since: null, problem: null });
  });
});

describe("an engine that dies and returns", () => {
  test("is lost after two looks, says so everywhere, and its executors are evaluated at once when it returns", async () => {
    const executor = await world.addExecutor();
    world.upstream.choice = { release: release("1.0", "a"), ready_at: null };
    await world.tick();
    expect((await world.main.executors.get(executor)).state).toBe("current");
    const seenAt = world.clock.now();
    const stats = statsService({
      ...{ db: world.db, clock: world.clock, timezone: () => "UTC" },
      counted: countedTime(world.clock, null),
      ...{ updateDifferences, openingOf: () => null, outages: async () => [] },
    });
    world.engine.isUnreachable = true;
    await world.clock.advance(20_000);
    await look();
    expect((await reach()).state).toBe("reachable");
    await world.clock.advance(5_000);
    await look();
    const lost = { state: "unreachable", seen_at: seenAt, since: seenAt + 20_000, problem: { code: "unreachable" } };
    expect(await reach()).toMatchObject(lost);
    const view = await world.main.executors.get(executor);
    expect(view).toMatchObject({ state: "unknown", observed_at: seenAt, problem: { code: "unreachable" } });
    expect(view.connection.reach).toMatchObject(lost);
    expect(view.services).toMatchObject([{ difference: "unknown", found: { tag: "1.0" } }]);
    expect(await stats.get()).toMatchObject({
      counts: { lost: 1, needs: 1 },
      lost_connections: [{ connection: "Home", executors: 1, seen_at: seenAt, since: seenAt + 20_000 }],
    });

    world.engine.isUnreachable = false;
    await world.clock.advance(20_000);
    await look();
    expect(await reach()).toMatchObject({ state: "reachable", since: null, problem: null });
    const [due] = await world.db.read.select().from(executors).where(eq(executors.id, executor));
    expect(due?.next_evaluation_at).toBe(world.clock.now());
    await world.tick();
    expect(await world.main.executors.get(executor)).toMatchObject({
      state: "current",
      observed_at: world.clock.now(),
    });
    expect(await stats.get()).toMatchObject({ counts: { lost: 0, needs: 0 }, lost_connections: [] });
  });

  test("a request that fails to reach it counts as a missed look, and one that succeeds as an answer", async () => {
    await look();
    world.engine.isUnreachable = true;
    await world.clock.advance(10_000);
    await expect(world.main.connections.targets(connection, signal)).rejects.toMatchObject({ code: "unreachable" });
    expect(await row()).toMatchObject({ missed_looks: 1, next_look_at: world.clock.now() + 5_000 });
    await expect(world.main.connections.targets(connection, signal)).rejects.toMatchObject({ code: "unreachable" });
    expect((await row()).missed_looks).toBe(1);
    world.engine.isUnreachable = false;
    await world.main.connections.targets(connection, signal);
    expect(await row()).toMatchObject({ missed_looks: 0, seen_at: world.clock.now() });
  });

  test("while it is lost, executors are not asked one by one", async () => {
    const executor = await world.addExecutor();
    await world.tick();
    await lose();
    const lostAt = (await row()).missed_looks;
    await world.db.write((tx) => tx.update(executors).set({ next_evaluation_at: world.clock.now() }));
    for (const item of await world.main.evaluator.due(world.clock.now(), 10)) {
      await world.clock.runUntil(world.main.evaluator.perform(item, signal));
    }
    expect((await row()).missed_looks).toBe(lostAt);
    expect((await world.main.executors.get(executor)).problem?.code).toBe("unreachable");
  });
});
