import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { createWorld, type World } from "../support/run-world.ts";

const warning = { code: "untold_settings", message: "Podman does not tell which addresses were chosen" };

let world: World;
beforeEach(async () => {
  world = await createWorld();
  world.engine.warnings = [warning];
});
afterEach(() => world.close());

test("what an engine does not tell completely is not updated unasked, and the run says why", async () => {
  const executor = await world.addExecutor({ trigger: "immediate" });
  await world.tick();
  await world.tick();
  const [run] = await world.runsOf(executor);
  expect(run).toMatchObject({ state: "skipped", reason_code: "target_refused" });
  expect(run?.reason).toBe(`"web" is updated only by hand or with approval: ${warning.message}`);
  expect(world.engine.calls.filter((call) => call.startsWith("stop"))).toEqual([]);
});

test("it is updated by hand", async () => {
  const executor = await world.addExecutor({ trigger: "manual" });
  expect(await world.update(executor)).toMatchObject({ state: "succeeded" });
});

test("it is asked about where plans need approval, and then updated", async () => {
  const executor = await world.addExecutor({ trigger: "immediate", requires_approval: true });
  await world.tick();
  await world.tick();
  const [run] = await world.runsOf(executor);
  expect(run).toMatchObject({ state: "pending", approval: "awaiting" });
  const decision = { plan_hash: run?.plan_hash, decision: "approve" };
  await world.main.runs.decide(systemActor, run?.id ?? "", decision);
  await world.tick();
  expect(await world.run(run?.id ?? "")).toMatchObject({ state: "succeeded" });
});
