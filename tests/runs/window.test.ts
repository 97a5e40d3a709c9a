import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { createWorld, type World } from "../support/run-world.ts";

const hourMs = 60 * 60 * 1000;
const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const at = (ms: number) => new Date(world.clock.now() + ms).toISOString().slice(11, 16);
const open = () => ({ days, start: at(-hourMs), end: at(hourMs) });
const later = () => ({ days, start: at(2 * hourMs), end: at(3 * hourMs) });

/** Something that happens once, while the image is pulled. */
function duringThePull(happens: () => Promise<void>): void {
  world.engine.gate = async () => {
    world.engine.gate = async () => undefined;
    await happens();
  };
}

describe("a window that is open when a run begins", () => {
  test.each<[string, (executor: string) => Promise<unknown>]>([
    ["closes", async () => world.clock.set(world.clock.now() + 2 * hourMs)],
    ["is set to another time", (id) => world.main.executors.update(systemActor, id, { window: later() })],
  ])("and %s during the pull keeps the target from being touched", async (_what, happens) => {
    const executor = await world.addExecutor({ trigger: "window", window: open() });
    duringThePull(async () => {
      await happens(executor);
    });
    await world.tick();
    const [run, ...others] = await world.runsOf(executor);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ state: "skipped", reason_code: "window_closed" });
    expect(world.engine.calls.map((call) => call.split(" ")[0])).toEqual(["pull"]);
    expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.0", running: true });
  });

  test("and stays open, or is left by a run that has begun to change something, keeps nothing from happening", async () => {
    const executor = await world.addExecutor({ trigger: "window", window: open() });
    world.engine.gate = async () => {
      if (world.engine.calls.at(-1) === "stop web") world.clock.set(world.clock.now() + 2 * hourMs);
    };
    await world.tick();
    expect(await world.runsOf(executor)).toMatchObject([{ state: "succeeded", serving: "desired" }]);
  });
});
