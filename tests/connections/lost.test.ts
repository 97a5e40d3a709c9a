import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { connections, outage_notices } from "../../src/db/tables.ts";
import { outageNotifiedAfterMs } from "../../src/notifications/outage-schema.ts";
import { createWorld, type Instance, type World } from "../support/run-world.ts";

const second = 1_000;
const minute = 60 * second;
const { signal } = new AbortController();
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

async function look(at: Instance = world.main): Promise<void> {
  for (const item of await at.connections.work.due(world.clock.now(), 100)) {
    await world.clock.runUntil(at.connections.work.perform(item, signal));
  }
}
/** Looks for so long, by these processes in turns. */
async function watch(ms: number, processes: readonly Instance[] = [world.main]): Promise<void> {
  const until = world.clock.elapsed() + ms;
  for (let turn = 0; world.clock.elapsed() < until; turn += 1) {
    await world.clock.advance(5 * second);
    await look(processes[turn % processes.length]);
  }
}
const kinds = async () => (await world.events()).map(({ kind }) => kind);
const reach = async () => (await world.main.connections.get(world.connectionId)).reach;
/** After the clock was set, looks are due, as the scheduler makes them. */
const mend = () => world.db.write((tx) => tx.update(connections).set({ next_look_at: 0, lease_until: null }));
/** An engine that has responded once, and then dies. */
async function die(): Promise<void> {
  await look();
  world.engine.isUnreachable = true;
}
const revive = () => {
  world.engine.isUnreachable = false;
};

describe("a connection that is lost", () => {
  test("is one event after 15 minutes, however many executors it has, and one when it is over", async () => {
    await world.addExecutor();
    await die();
    await watch(15 * minute);
    expect(await kinds()).toEqual([]);
    await watch(minute);
    const { since } = await reach();
    const outage = {
      ...{ cause: "connection", connection: "Home", connection_id: world.connectionId, since },
      ...{ code: "unreachable", executor_count: 1, executors: ["web"] },
    };
    const [lost] = await world.events();
    expect(lost).toMatchObject({ kind: "connection_lost", facts: { ...outage, lasted_ms: null } });
    expect((lost?.created_at ?? 0) - (since ?? 0)).toBeGreaterThanOrEqual(outageNotifiedAfterMs);
    await watch(60 * minute);
    expect(await kinds()).toEqual(["connection_lost"]);
    revive();
    await watch(minute);
    const [, recovered] = await world.events();
    expect(recovered).toMatchObject({
      kind: "connection_recovered",
      facts: { ...outage, outage: lost?.facts.outage, lasted_ms: (recovered?.created_at ?? 0) - (since ?? 0) },
    });
    expect(await world.db.read.select().from(outage_notices)).toEqual([]);
  });

  test("and returns within 15 minutes is none, as often as it happens", async () => {
    await look();
    for (let flap = 0; flap < 4; flap += 1) {
      await die();
      await watch(12 * minute);
      revive();
      await watch(minute);
    }
    expect(await kinds()).toEqual([]);
  });

  test("is none if it has never responded", async () => {
    world.engine.isUnreachable = true;
    await watch(30 * minute);
    expect((await reach()).state).toBe("unreachable");
    revive();
    await watch(minute);
    expect(await kinds()).toEqual([]);
  });

  test("is one for two processes that look in turns", async () => {
    const other = await world.instance();
    await die();
    await watch(40 * minute, [world.main, other]);
    revive();
    await watch(minute, [other, world.main]);
    expect(await kinds()).toEqual(["connection_lost", "connection_recovered"]);
  });

  test("is one over restarts, which do not begin the wait anew", async () => {
    await die();
    await watch(8 * minute);
    await watch(9 * minute, [world.instance()]);
    expect(await kinds()).toEqual(["connection_lost"]);
    await watch(20 * minute, [world.instance()]);
    revive();
    await watch(minute, [world.instance()]);
    expect(await kinds()).toEqual(["connection_lost", "connection_recovered"]);
  });

  test.each([
    ["ahead", 1],
    ["back", -1],
  ])("is measured by the time that passes, also while the clock is set years %s", async (_name, sign) => {
    await die();
    await watch(5 * minute);
    world.clock.set(world.clock.now() + sign * 10 * 365 * 24 * 60 * minute);
    await mend();
    await watch(9 * minute);
    expect(await kinds()).toEqual([]);
    await watch(3 * minute);
    expect(await kinds()).toEqual(["connection_lost"]);
  });

  test("reports how long it lasted, also if the clock was set meanwhile", async () => {
    await die();
    await watch(20 * minute);
    world.clock.set(world.clock.now() - 365 * 24 * 60 * minute);
    await mend();
    revive();
    await watch(minute);
    const recovered = (await world.events()).find(({ kind }) => kind === "connection_recovered");
    const lasted = Number(recovered?.facts.lasted_ms) / minute;
    expect(Math.round(lasted)).toBe(20);
  });
});

describe("an outage of a connection", () => {
  const change = (input: unknown) => world.main.connections.update(systemActor, world.connectionId, input);
  const lose = async () => {
    await die();
    await watch(20 * minute);
    expect(await kinds()).toEqual(["connection_lost"]);
  };

  test("ends without an event when the connection is disabled, and begins anew when it is enabled", async () => {
    await lose();
    await change({ is_enabled: false });
    expect(await world.db.read.select().from(outage_notices)).toEqual([]);
    await watch(minute);
    await change({ is_enabled: true });
    await watch(14 * minute);
    expect(await kinds()).toEqual(["connection_lost"]);
    await watch(3 * minute);
    expect(await kinds()).toEqual(["connection_lost", "connection_lost"]);
  });

  test("ends without an event when the connection is deleted", async () => {
    await lose();
    await world.main.connections.remove(systemActor, world.connectionId);
    expect(await world.db.read.select().from(outage_notices)).toEqual([]);
    expect(await kinds()).toEqual(["connection_lost"]);
  });

  test.each([
    ["at once", 0],
    ["later", 30 * minute],
  ])("that was notified ends with an event when a corrected address responds %s", async (_name, wait) => {
    await lose();
    if (wait === 0) revive();
    await change({ config: { address: "fake://elsewhere" } });
    await watch(wait);
    expect(await kinds()).toEqual(["connection_lost"]);
    revive();
    await watch(minute);
    expect(await kinds()).toEqual(["connection_lost", "connection_recovered"]);
  });
});
