import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { inEnglish, plain, say, told } from "../../src/messages/message.ts";
import { english } from "../support/english.ts";
import { createWorld, digest, release, type World } from "../support/run-world.ts";

const warning = { code: "untold_settings", message: plain("Podman does not tell which addresses were chosen") };

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
  expect(run).toMatchObject({ state: "skipped", reason_code: "settings_unknown" });
  expect(english(run?.reason)).toBe(
    `The target is updated only manually or with approval: ${inEnglish(warning.message)}`,
  );
  expect(world.engine.calls.filter((call) => call.startsWith("stop"))).toEqual([]);
});

test("an executor that would not be updated by itself says so when it is stored", async () => {
  const message = say("executors.settings_unknown", { cause: warning.message });
  const warnings = [{ code: "settings_unknown", ...told(message) }];
  const read = async (id: string) => await world.main.executors.get(id);
  const executor = await world.addExecutor({ trigger: "immediate" });
  expect(await read(executor)).toMatchObject({ unknown_settings: [inEnglish(warning.message)], warnings });
  for (const change of [{ trigger: "manual" }, { requires_approval: true }]) {
    expect((await world.main.executors.update(systemActor, executor, change)).warnings).toEqual([]);
    const undone = { trigger: "immediate", requires_approval: false };
    expect((await world.main.executors.update(systemActor, executor, undone)).warnings).toEqual(warnings);
  }
});

test("what is unknown is accepted once, as it is worded, and the version that waited is then taken", async () => {
  const executor = await world.addExecutor({ trigger: "immediate" });
  const outcomes = async () => (await world.runsOf(executor)).map((run) => [run.state, run.reason_code]);
  const later = async () => {
    await world.clock.advance(15 * 60_000);
    await world.tick();
  };
  await world.tick();
  await later();
  // One run says it; no further one starts for the same version.
  expect(await outcomes()).toEqual([["skipped", "settings_unknown"]]);
  const { unknown_settings } = await world.main.executors.get(executor);
  const accepted = { accepted_unknown_settings: unknown_settings };
  expect((await world.main.executors.update(systemActor, executor, accepted)).warnings).toEqual([]);
  await later();
  expect((await outcomes()).at(-1)).toEqual(["succeeded", null]);
  // Another setting is unknown from now on: it was not accepted.
  const another = plain("Podman does not tell kernel parameters");
  world.engine.warnings = [warning, { ...warning, message: another }];
  world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
  await later();
  expect((await outcomes()).at(-1)).toEqual(["skipped", "settings_unknown"]);
  expect((await world.main.executors.get(executor)).warnings[0]?.message_data).toMatchObject({
    params: { cause: another },
  });
});

test("what was accepted of one target says nothing of another", async () => {
  world.engine.add("other", "registry.test/app:1.0", digest("a"));
  const executor = await world.addExecutor({
    trigger: "immediate",
    accepted_unknown_settings: [inEnglish(warning.message)],
  });
  expect((await world.main.executors.get(executor)).warnings).toEqual([]);
  const moved = { target: { kind: "container", id: "other" } };
  expect(await world.main.executors.update(systemActor, executor, moved)).toMatchObject({
    accepted_unknown_settings: [],
    warnings: [{ code: "settings_unknown" }],
  });
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
