import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { run_logs } from "../../src/db/tables.ts";
import { createWorld, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

async function collect(steps: AsyncIterable<{ seq: number; step: string; phase: string }>): Promise<string[]> {
  const seen: string[] = [];
  for await (const { seq, step, phase } of steps) seen.push(`${seq} ${step} ${phase}`);
  return seen;
}

test("watch() gives every step of a run in its order and ends with it", async () => {
  const { id } = await world.main.runs.create(systemActor, await world.addExecutor(), {});
  const watched = collect(world.main.runs.watch(id, 0, live));
  await world.clock.runUntil(world.main.runs.work.perform({ id }, live));
  const seen = (await world.clock.runUntil(watched)).filter((line) => !line.endsWith("progress"));
  expect(seen.map((line) => line.split(" ").slice(1).join(" "))).toEqual(await world.steps(id));
  expect(seen.map((line) => Number(line.split(" ")[0]))).toEqual(seen.map((_line, index) => index + 1));
});

test("watch() goes on after the number that a reader saw last", async () => {
  const run = await world.update(await world.addExecutor());
  const all = await collect(world.main.runs.watch(run.id, 0, live));
  expect(await collect(world.main.runs.watch(run.id, 10, live))).toEqual(all.slice(10));
});

test("watch() in one process sees a run of another", async () => {
  const { id } = await world.main.runs.create(systemActor, await world.addExecutor(), {});
  const other = world.instance();
  const watched = collect(other.runs.watch(id, 0, live));
  await world.clock.runUntil(world.main.runs.work.perform({ id }, live));
  expect((await world.clock.runUntil(watched)).at(-1)).toEndWith("remove_old finish");
});

test("watch() tells the progress of a pull between the steps", async () => {
  const { id } = await world.main.runs.create(systemActor, await world.addExecutor(), {});
  const watched = collect(world.main.runs.watch(id, 0, live));
  await world.clock.runUntil(world.main.runs.work.perform({ id }, live));
  expect((await world.clock.runUntil(watched)).some((line) => line.endsWith("pull progress"))).toBe(true);
});

test("watch() tells of a log that is stored while a run goes on", async () => {
  const { id } = await world.main.runs.create(systemActor, await world.addExecutor(), {});
  const reader = new AbortController();
  const watched = collect(world.main.runs.watch(id, 0, reader.signal));
  while (world.clock.pending().length === 0) await new Promise((resolve) => setImmediate(resolve));
  const log = { id: "log", run_id: id, key: "web", pod: "", container: "web", is_previous: true, why: null, at: 5 };
  await world.db.write((tx) => tx.insert(run_logs).values({ ...log, sealed_lines: world.sealer.sealJson([]) }));
  await world.clock.advance(1_000);
  while (world.clock.pending().length === 0) await new Promise((resolve) => setImmediate(resolve));
  reader.abort();
  expect(await watched).toEqual(["1 queue finish", "1 logs progress"]);
});

test("watch() ends when its reader is gone", async () => {
  const { id } = await world.main.runs.create(systemActor, await world.addExecutor(), {});
  const reader = new AbortController();
  const watched = collect(world.main.runs.watch(id, 0, reader.signal));
  while (world.clock.pending().length === 0) await new Promise((resolve) => setImmediate(resolve));
  reader.abort();
  expect(await watched).toEqual(["1 queue finish"]);
});

test("steps() refuses a run that is not there", async () => {
  await expect(world.main.runs.steps("unknown", {})).rejects.toMatchObject({ status: 404 });
});
