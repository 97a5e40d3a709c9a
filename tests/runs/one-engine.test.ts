import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { runtimes } from "../../src/runtimes/index.ts";
import { createWorld, digest, leadTo, type World } from "../support/run-world.ts";

const live = new AbortController().signal;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

test.each([
  ["unix:///var/run/docker.sock", "/run/docker.sock", true],
  ["/var/run/docker.sock", "/run/docker.sock", true],
  ["unix:///run/docker.sock", "/run/docker.sock", true],
  ["tcp://Engine.Test:2375", "tcp://engine.test:2375", true],
  ["tcp://engine.test:2375/", "tcp://engine.test:2375", true],
  ["/run/docker.sock", "/run/podman/podman.sock", false],
  ["/run/Docker.sock", "/run/docker.sock", false],
  ["tcp://engine.test:2375", "tcp://engine.test:2376", false],
])("runs by %s and by %s work on one engine: %p", async (left, right, isOne) => {
  const { engine, main } = world;
  engine.add("db", "registry.test/app:1.0", digest("a"));
  const other = await main.connections.create(systemActor, {
    name: "Home again",
    kind: "docker",
    config: { address: "fake://elsewhere" },
  });
  const first = await world.addExecutor();
  const target = { kind: "container", id: "db" };
  const second = await world.addExecutor({ name: "db", connection_id: other.id, target });
  const a = await main.runs.create(systemActor, first, {});
  const b = await main.runs.create(systemActor, second, {});
  const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const goOn = Promise.withResolvers<void>();
  let pulls = 0;
  engine.gate = async () => {
    arrivals[pulls === 0 ? 0 : 1].resolve();
    pulls += 1;
    await goOn.promise;
  };
  const going = main.runs.work.perform({ id: a.id }, live);
  await arrivals[0].promise;
  await leadTo(world, world.connectionId, left, runtimes.docker);
  await leadTo(world, other.id, right, runtimes.docker);
  const following = main.runs.work.perform({ id: b.id }, live);
  await Promise.race([following, arrivals[1].promise]);
  expect((await world.run(b.id)).reason_code === "waiting_for_connection").toBe(isOne);
  // Told once, it is not even asked for while the engine is busy.
  if (isOne) expect(await main.runs.work.due(world.clock.now(), 10)).toEqual([]);
  goOn.resolve();
  await world.clock.runUntil(Promise.all([going, following]));
  const ends = [(await world.run(a.id)).state, (await world.run(b.id)).state];
  expect(ends).toEqual(["succeeded", isOne ? "pending" : "succeeded"]);
});
