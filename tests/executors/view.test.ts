import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { executors } from "../../src/db/tables.ts";
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

test.each([
  ["the running image", null, digest("a"), "running_build_unknown"],
  ["the latest build", digest("a"), null, "desired_build_unknown"],
] as const)(
  "an executor says that it cannot compare what has the desired tag, without a digest of %s",
  async (_, runs, wants, code) => {
    const id = await world.addExecutor();
    const image = { image: "registry.test/app:1.0", image_id: "sha256:a", platform: "linux/amd64", state: "running" };
    const service = {
      ...{ service: "main", tracker: "app", source: "main", channel: "stable", difference: "unknown" },
      found: { name: "main", containers: ["web"], ...image, digest: runs, tag: "1.0" },
      desired: { version: "1.0", tag: "1.0", digest: wants, reference: image.image, published_at: null },
    };
    const observed = { services: [service], problem: null, waiting: null, desired_revision: "a" };
    await world.db.write((tx) => tx.update(executors).set({ observed, observed_at: world.clock.now() }));
    const said = told(say(`executors.${code}`, { target: "web", tag: "1.0" }));
    expect(await world.main.executors.get(id)).toMatchObject({
      state: "unknown",
      problem: { code: "build_unknown", ...said },
    });
  },
);
