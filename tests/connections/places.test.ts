import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { identifyAgainMs, twinsOf } from "../../src/connections/places.ts";
import { connections, executors } from "../../src/db/tables.ts";
import { PluginError } from "../../src/errors.ts";
import { plain, say } from "../../src/messages/message.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import { createWorld, digest, type Instance, leadTo, type World } from "../support/run-world.ts";

const { signal } = new AbortController();
let world: World;
let home: string;
beforeEach(async () => {
  world = await createWorld();
  home = world.connectionId;
  world.engine.placeId = "engine 1";
  await look();
});
afterEach(() => world.close());

const input = (name: string, address = `fake://${name}`) => ({ name, kind: "docker", config: { address } });
const add = async (name: string, at: Instance = world.main) =>
  (await world.clock.runUntil(at.connections.create(systemActor, input(name)))).id;
const change = (id: string, changes: object) =>
  world.clock.runUntil(world.main.connections.update(systemActor, id, changes));
const warnings = async (id: string) => (await world.main.connections.get(id)).warnings.map((each) => each.message_data);
const shared = (...names: string[]) => say("connections.place_shared", { names });
const taken = {
  code: "place_taken",
  status: 409,
  said: say("connections.place_taken", { connection: "Home", is_divisible: false }),
};
async function look(): Promise<void> {
  for (const item of await world.main.connections.work.due(world.clock.now(), 100)) {
    await world.clock.runUntil(world.main.connections.work.perform(item, signal));
  }
}
/** An engine that dies, and what returns. */
async function returnAs(placeId: string | null): Promise<void> {
  world.engine.isUnreachable = true;
  await world.clock.advance(20_000);
  await look();
  world.engine.isUnreachable = false;
  world.engine.placeId = placeId;
  await world.clock.advance(20_000);
  await look();
}

describe("a second connection to an engine", () => {
  test("is refused with the name of the first, by another address and by the same one", async () => {
    await expect(add("proxy")).rejects.toMatchObject(taken);
    const other = { ...input("again", "fake://home") };
    world.engine.isUnreachable = true;
    await expect(world.main.connections.create(systemActor, other)).rejects.toMatchObject(taken);
    expect((await world.main.connections.list({})).items).toHaveLength(1);
  });

  test("is refused with its new credential too, which is not stored either", async () => {
    const secret = { username: "u", password: "p" };
    const saved = world.main.connections.createWithSecret(systemActor, input("proxy"), secret);
    await expect(world.clock.runUntil(saved)).rejects.toMatchObject(taken);
    expect((await world.credentials.list({})).items).toEqual([]);
  });

  test("is refused when an edit leads there, and the connection stays as it is", async () => {
    world.engine.placeId = "engine 2";
    const id = await add("lab");
    world.engine.placeId = "engine 1";
    await expect(change(id, { config: { address: "fake://proxy" } })).rejects.toMatchObject(taken);
    expect((await world.main.connections.get(id)).config.address).toBe("fake://lab");
    await change(id, { description: "The one in the cellar", is_enabled: false });
  });

  test.each([
    ["another engine", "engine 2"],
    ["one that does not tell", null],
  ])("is stored if it is %s", async (_what, placeId) => {
    world.engine.placeId = placeId;
    expect(await warnings(await add("lab"))).toEqual([]);
    expect(await warnings(home)).toEqual([]);
  });

  test("is stored if the runtime refuses to tell what it is", async () => {
    world.engine.failures.set("identify", new PluginError("unauthorized", plain("Forbidden")));
    const id = await add("lab");
    await look();
    expect(await warnings(id)).toEqual([]);
    expect((await world.main.connections.get(id)).reach.state).toBe("reachable");
  });

  test("is one of two that two processes save at once", async () => {
    await world.main.connections.remove(systemActor, home);
    const other = world.instance();
    const saved = await Promise.allSettled([add("left"), add("right", other), add("third"), add("fourth", other)]);
    expect(saved.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const each of saved)
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "place_taken" });
    expect((await world.main.connections.list({})).items).toHaveLength(1);
  });
});

describe("connections of one engine that are stored already", () => {
  let twin: string;
  beforeEach(async () => {
    world.engine.isUnreachable = true;
    twin = await add("proxy");
    world.engine.isUnreachable = false;
  });

  test("are warned about on both pages once the engine has told, and can be edited", async () => {
    expect(await warnings(home)).toEqual([]);
    await world.clock.advance(20_000);
    await look();
    expect(await warnings(home)).toEqual([shared("proxy")]);
    expect(await warnings(twin)).toEqual([shared("Home")]);
    await change(twin, { name: "detour", config: { address: "fake://proxy" } });
    await change(home, { config: { api_version: "1.41" } });
    await world.main.connections.remove(systemActor, home);
    expect(await warnings(twin)).toEqual([]);
  });

  test("are found by a test", async () => {
    await world.main.connections.check(systemActor, twin, signal);
    expect(await warnings(home)).toEqual([shared("proxy")]);
  });

  test("are found by their address alone, and can be edited", async () => {
    await leadTo(world, twin, "fake://home");
    expect(await warnings(home)).toEqual([shared("proxy")]);
    await change(twin, { config: { address: "fake://home" } });
  });

  test("offer a target once: it is taken on both", async () => {
    await world.clock.advance(20_000);
    await look();
    const id = await world.addExecutor();
    const refused = world.addExecutor({ name: "other", connection_id: twin });
    await expect(refused).rejects.toMatchObject({
      field_messages: { "target.id": say("executors.target_taken", { target: "web", executor: "web" }) },
    });
    const { items } = await world.main.connections.targets(twin, signal);
    expect(items.map((each) => each.executor)).toEqual([{ id, name: "web" }]);
  });
});

describe("an address that leads elsewhere", () => {
  const moved = say("connections.place_changed");

  test("is warned about after a silence until the connection is saved, and its executors are evaluated", async () => {
    const executor = await world.addExecutor();
    await world.tick();
    await returnAs("engine 2");
    expect(await warnings(home)).toEqual([moved]);
    const [row] = await world.db.read.select().from(executors).where(eq(executors.id, executor));
    expect(row?.next_evaluation_at).toBe(world.clock.now());
    expect(world.logs.filter((line) => line.includes("leads elsewhere"))).toHaveLength(1);
    await returnAs("engine 2");
    await change(home, { description: "Only words" });
    expect(await warnings(home)).toEqual([moved]);
    await change(home, { config: { address: "fake://home" } });
    expect(await warnings(home)).toEqual([]);
    await returnAs("engine 2");
    expect(await warnings(home)).toEqual([]);
  });

  test("is found by a test, and within the hour if nothing was silent", async () => {
    world.engine.placeId = "engine 2";
    await world.clock.advance(20_000);
    await look();
    expect(await warnings(home)).toEqual([]);
    await world.clock.advance(identifyAgainMs);
    await look();
    expect(await warnings(home)).toEqual([moved]);
    await change(home, { config: { address: "fake://home" } });
    world.engine.placeId = "engine 3";
    await world.main.connections.check(systemActor, home, signal);
    expect(await warnings(home)).toEqual([moved]);
  });

  test("is not assumed of an engine that no longer tells", async () => {
    await returnAs(null);
    expect(await warnings(home)).toEqual([]);
    await returnAs("engine 1");
    expect(await warnings(home)).toEqual([]);
  });

  test("is not stored of a connection that was edited meanwhile", async () => {
    world.engine.placeId = "engine 2";
    const checking = world.main.connections.check(systemActor, home, signal);
    await leadTo(world, home, "fake://elsewhere");
    await checking;
    const [row] = await world.db.read.select().from(connections).where(eq(connections.id, home));
    expect(row).toMatchObject({ place_id: "engine 1", has_moved: false });
  });
});

describe("connections to one cluster", () => {
  const cluster = (id: string, namespaces: string) => ({
    ...{ id, name: id, kind: "kubernetes", place: `https://${id}`, place_id: "uid-1" },
    config: { server: `https://${id}`, namespaces },
  });

  test.each([
    ["shop", "blog", false],
    ["shop, blog", "blog", true],
    ["", "blog", true],
    ["shop", "", true],
    ["", "", true],
  ])("with the namespaces %p and %p: they reach the same targets: %p", (one, other, isShared) => {
    const all = [cluster("a", one), cluster("b", other)] as const;
    expect(twinsOf(all[0], all, runtimes.kubernetes).map(({ id }) => id)).toEqual(isShared ? ["b"] : []);
    const apart = { ...all[1], place_id: "uid-2" };
    expect(twinsOf(all[0], [apart], runtimes.kubernetes)).toEqual([]);
  });
});

test("runs by two connections of one engine take turns, whatever their addresses", async () => {
  world.engine.add("db", "registry.test/app:1.0", digest("a"));
  world.engine.isUnreachable = true;
  const twin = await add("proxy");
  world.engine.isUnreachable = false;
  await world.clock.advance(20_000);
  await look();
  const first = await world.addExecutor();
  const second = await world.addExecutor({ name: "db", connection_id: twin, target: { kind: "container", id: "db" } });
  const a = await world.main.runs.create(systemActor, first, {});
  const b = await world.main.runs.create(systemActor, second, {});
  const pulling = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.engine.gate = async () => {
    pulling.resolve();
    await goOn.promise;
  };
  const going = world.main.runs.work.perform({ id: a.id }, signal);
  await pulling.promise;
  await world.main.runs.work.perform({ id: b.id }, signal);
  expect(await world.run(b.id)).toMatchObject({ state: "pending", reason_code: "waiting_for_connection" });
  goOn.resolve();
  await world.clock.runUntil(going);
});
