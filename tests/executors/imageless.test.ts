import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { tracker_sources } from "../../src/db/tables.ts";
import { PluginError } from "../../src/errors.ts";
import { plain, say, told } from "../../src/messages/message.ts";
import { createWorld, digest, type World } from "../support/run-world.ts";

// A source that is a repository or a chart tells versions; the image that runs says how its tags are written.
const live = new AbortController().signal;
const image = "registry.test/app";
let world: World;
beforeEach(async () => {
  world = await createWorld();
  await world.db.write((tx) => tx.update(tracker_sources).set({ kind: "github" }));
  world.upstream.image = null;
  offer("v1.1");
});
afterEach(() => world.close());

const offer = (tag: string, app_version: string | null = null) => {
  const release = { version: tag, tag, digest: null, app_version, published_at: null };
  world.upstream.choice = { release, ready_at: null };
};
const planOf = (executor: string) => world.main.executors.plan(executor, live);
const referenceOf = async (executor: string) => (await planOf(executor)).plan?.services[0]?.to.reference;

describe("a release of a source without an image", () => {
  test.each([
    ["1.0", "v1.1", "1.1"],
    ["v1.0", "1.1", "v1.1"],
    ["1.0-alpine", "v1.1", "1.1-alpine"],
  ])("becomes the tag of the image that runs: %s and %s make %s", async (running, tag, wanted) => {
    world.engine.add("web", `${image}:${running}`, digest("a"));
    world.upstream.tags = { [`${image}:${wanted}`]: digest("b") };
    offer(tag);
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    const [run] = await world.runsOf(executor);
    expect(run).toMatchObject({ state: "succeeded", from_tag: running, to_tag: wanted, to_digest: digest("b") });
    expect(world.engine.get("web")).toMatchObject({ image: `${image}:${wanted}`, digest: digest("b") });
    await world.tick();
    expect((await world.main.executors.get(executor)).state).toBe("current");
  });

  test("is of a chart the version of its application", async () => {
    world.upstream.tags = { [`${image}:1.1`]: digest("b"), [`${image}:45.0`]: digest("c") };
    offer("45.0", "1.1");
    expect(await referenceOf(await world.addExecutor())).toBe(`${image}:1.1`);
  });

  test("is waited for until the registry has it, and then runs by itself", async () => {
    const executor = await world.addExecutor({ trigger: "immediate" });
    await world.tick();
    expect(await world.runsOf(executor)).toEqual([]);
    const message = say("executors.tag_not_found", { image, tags: ["1.1"] });
    expect((await world.main.executors.get(executor)).problem).toEqual({ code: "no_tag", ...told(message) });
    expect(await world.update(executor)).toMatchObject({ state: "skipped", reason_code: "no_tag", reason: message });
    world.upstream.tags = { [`${image}:1.1`]: digest("b") };
    await world.clock.advance(15 * 60_000);
    await world.tick();
    expect((await world.runsOf(executor)).at(-1)).toMatchObject({ state: "succeeded", to_tag: "1.1" });
  });

  const asked = { image, tag: "1.1", cause: plain("refused") };
  test.each([
    ["malformed", say("executors.registry_failed", asked)],
    ["unauthorized", say("executors.registry_needs_login", asked)],
    ["unreachable", say("executors.registry_needs_http", asked)],
  ] as const)(
    "is not run while the registry cannot be asked, with the reason and what to do: %s",
    async (code, reason) => {
      world.upstream.tags = { [`${image}:1.1`]: new PluginError(code, plain("refused")) };
      const executor = await world.addExecutor({ trigger: "immediate" });
      await world.tick();
      expect(await world.runsOf(executor)).toEqual([]);
      expect(await world.update(executor)).toMatchObject({
        state: "skipped",
        reason_code: "registry_failed",
        reason,
      });
    },
  );

  test("keeps the form of its tags where the image is pinned by digest", async () => {
    world.engine.add("web", `${image}:1.0-alpine`, digest("a"));
    world.upstream.tags = { [`${image}:1.1-alpine`]: digest("b"), [`${image}:1.2-alpine`]: digest("c") };
    const executor = await world.addExecutor({ trigger: "immediate", reference_mode: "digest" });
    await world.tick();
    expect(world.engine.get("web").image).toBe(`${image}@${digest("b")}`);
    // The run itself tells it, before anybody looked again.
    offer("v1.2");
    expect((await planOf(executor)).services[0]).toMatchObject({ found: { tag: "1.1-alpine" } });
    await world.clock.advance(15 * 60_000);
    await world.tick();
    expect(world.engine.get("web").image).toBe(`${image}@${digest("c")}`);
    expect((await world.runsOf(executor)).at(-1)).toMatchObject({ from_tag: "1.1-alpine", to_tag: "1.2-alpine" });
  });

  test("says why where nothing tells the form", async () => {
    world.engine.add("web", `${image}@${digest("a")}`, digest("a"));
    const executor = await world.addExecutor();
    const message_data = say("executors.runs_by_digest", { image });
    expect((await planOf(executor)).unmet).toMatchObject({ code: "no_tag", message_data });
    offer("nightly");
    world.engine.add("web", `${image}:1.0`, digest("a"));
    expect((await planOf(executor)).unmet).toMatchObject({
      code: "no_tag",
      message_data: say("executors.tag_not_formed", { version: "nightly", tag: "1.0" }),
    });
  });

  test("is no downgrade unasked, and neither is a first step away from a name that moves", async () => {
    world.upstream.tags = { [`${image}:0.9`]: digest("b") };
    offer("v0.9");
    const executor = await world.addExecutor();
    expect(await world.update(executor)).toMatchObject({ state: "skipped", reason_code: "would_downgrade" });
    world.engine.add("web", `${image}:latest`, digest("a"));
    expect(await world.update(executor)).toMatchObject({ state: "skipped", reason_code: "would_downgrade" });
    const view = await planOf(executor);
    expect(view.services[0]?.desired).toMatchObject({ version: "v0.9", tag: "0.9" });
    expect(await world.update(executor, { plan_hash: view.plan?.hash })).toMatchObject({ state: "succeeded" });
  });
});

test("the tracker's image is refused where its source has none, when it is saved", async () => {
  const field_messages = { image_selection: { code: "executors.imageless_source" } };
  const wanted = world.addExecutor({ image_selection: "use_tracker" });
  await expect(wanted).rejects.toMatchObject({ status: 422, field_messages });
  const executor = await world.addExecutor();
  const changed = world.main.executors.update(systemActor, executor, { image_selection: "use_tracker" });
  await expect(changed).rejects.toMatchObject({ status: 422, field_messages });
});
