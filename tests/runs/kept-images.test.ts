import { expect, test } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { keepImages } from "../../src/runs/kept-images.ts";
import { createWorld, digest, release } from "../support/run-world.ts";

test("a run stores which images its snapshot needs, and the snapshot is found by them", async () => {
  const world = await createWorld();
  const executor = await world.addExecutor();
  world.upstream.choice = { release: release("1.1", "b"), ready_at: null };
  expect((await world.update(executor)).state).toBe("succeeded");
  const [snapshot] = (await world.main.snapshots.list({})).items;
  const id = `id-${digest("a")}`;
  expect(snapshot?.image_ids).toEqual([id]);
  expect(await world.main.snapshots.usersOfImages([id, "other"])).toMatchObject([
    { image_id: id, snapshot_id: snapshot?.id, executor_id: executor, is_locked: false },
  ]);
  expect(await world.main.snapshots.usersOfImages(["other"])).toEqual([]);
  await world.close();
});

test("keepImages() answers what went wrong instead of failing the run, but not faults of ours", async () => {
  const warned: string[] = [];
  const log = { warning: (message: string) => warned.push(message), debug: () => 0, info: () => 0, error: () => 0 };
  const keeping = (fault: Error | null) => ({
    deps: { log: { ...log, setLevel: () => undefined } },
    run: { id: "run" },
    session: {
      images: {
        keep: async () => {
          if (fault !== null) throw fault;
        },
        findPresent: async () => [],
        listUnused: async () => [],
        remove: async () => undefined,
      },
    },
  });
  expect(await keepImages(keeping(null), ["a"])).toBeNull();
  expect(await keepImages({ ...keeping(null), session: {} }, ["a"])).toBeNull();
  expect(await keepImages(keeping(new PluginError("unauthorized", plain("The proxy refused"))), ["a"])).toEqual(
    plain("The proxy refused"),
  );
  expect(warned).toEqual(["Images of a snapshot could not be kept"]);
  await expect(keepImages(keeping(new Error("ours")), ["a"])).rejects.toThrow("ours");
});
