import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { say, told } from "../../src/messages/message.ts";
import { createWorld, digest, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

test("an executor whose run waits for another names that run, and no more once it goes on", async () => {
  world.engine.add("db", "registry.test/app:1.0", digest("a"));
  const first = await world.addExecutor();
  const second = await world.addExecutor({ name: "db", target: { kind: "container", id: "db" } });
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
  const { waiting } = await world.main.executors.get(second);
  expect(waiting).toEqual({
    reason: "connection",
    until: null,
    ...told(say("runs.waits_for_run", { run: a.id, executor: "web", connection: "Home" })),
  });
  goOn.resolve();
  await world.clock.runUntil(going);
  await world.tick();
  expect((await world.main.executors.get(second)).waiting).toBeNull();
});
