import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createWorld, digest, type World } from "../support/run-world.ts";

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

describe("a run", () => {
  test("replaces the container, verifies it, and removes the previous one last", async () => {
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    expect(run).toMatchObject({ state: "succeeded", reason: null, serving: "desired" });
    expect(run).toMatchObject({ from_tag: "1.0", from_digest: digest("a"), to_tag: "1.1", to_digest: digest("b") });
    expect([...world.engine.containers.values()].map(({ name, image, running }) => [name, image, running])).toEqual([
      ["web", "registry.test/app:1.1", true],
    ]);
    expect(world.engine.calls).toEqual([
      "pull registry.test/app:1.1",
      "create web-next",
      "stop web",
      "rename web",
      "rename web-next",
      "start web",
      "remove web-previous",
    ]);
    expect(await world.steps(run.id)).toEqual([
      "queue finish",
      "claim begin",
      "capturing finish",
      "pull begin",
      "pull finish",
      "snapshot begin",
      "snapshot finish",
      "updating finish",
      "create begin",
      "create finish",
      "stop begin",
      "stop finish",
      "rename_old begin",
      "rename_old finish",
      "rename_new begin",
      "rename_new finish",
      "start begin",
      "start finish",
      "verifying finish",
      "verify begin",
      "probe finish",
      "verify finish",
      "commit finish",
      "succeeded finish",
      "remove_old begin",
      "remove_old finish",
    ]);
    expect(run).toMatchObject({ lease_owner: null, lease_until: null, cleanup_due_at: null });
  });

  test("records exactly one event with its facts", async () => {
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    const [event, ...others] = await world.events();
    expect(others).toEqual([]);
    expect(event).toMatchObject({ kind: "executor_run_succeeded", run_id: run.id, executor_id: executor });
    expect(event?.facts).toEqual({
      executor: "web",
      run: run.id,
      kind: "update",
      from: { tag: "1.0", digest: digest("a") },
      to: { tag: "1.1", digest: digest("b") },
      outcome: "succeeded",
      reason: null,
      downtime_ms: 0,
      serving: "desired",
    });
  });
});
