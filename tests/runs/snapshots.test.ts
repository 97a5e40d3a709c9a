import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { snapshots } from "../../src/db/tables.ts";
import { AppError, PluginError } from "../../src/errors.ts";
import { plain, say } from "../../src/messages/message.ts";
import { maskEnvironment } from "../../src/runtimes/engine/mask.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { createSealer } from "../../src/secrets/sealed.ts";
import { english } from "../support/english.ts";
import { createWorld, digest, release, type World } from "../support/run-world.ts";

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const references = async (executor: string) =>
  (await world.main.snapshots.list({ executor_id: executor })).items.map((each) => each.reference.split(":")[1]);

/** Updates to 1.1, 1.2, …, each of which captures what ran before. */
async function updateTimes(executor: string, count: number, first = 1): Promise<void> {
  for (let time = first; time < first + count; time++) {
    world.upstream.choice = { release: release(`1.${time}`, "bcdef0123456789"[time - 1] ?? "b"), ready_at: null };
    await world.clock.advance(1_000);
    expect((await world.update(executor)).state).toBe("succeeded");
  }
}

async function refused(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(`Not refused: ${String(error)}`);
  return error;
}

describe("pruning", () => {
  test("keeps the newest as the setting says", async () => {
    world.settings.snapshots = 2;
    const executor = await world.addExecutor();
    await updateTimes(executor, 4);
    expect(await references(executor)).toEqual(["1.3", "1.2"]);
  });

  test("keeps locked ones beside them", async () => {
    world.settings.snapshots = 2;
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [first] = (await world.main.snapshots.list({})).items;
    await world.main.snapshots.update(systemActor, first?.id ?? "", { is_locked: true });
    await updateTimes(executor, 4, 2);
    expect(await references(executor)).toEqual(["1.4", "1.3", "1.0"]);
  });

  test("keeps the one that a run is going back to", async () => {
    world.settings.snapshots = 1;
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [first] = (await world.main.snapshots.list({})).items;
    const rollback = await world.update(executor, { snapshot_id: first?.id });
    expect(rollback.state).toBe("succeeded");
    expect(world.engine.get("web").image).toBe("registry.test/app:1.0");
  });

  test("leaves other executors alone", async () => {
    world.settings.snapshots = 1;
    world.engine.add("db", "registry.test/app:1.0", digest("a"));
    const other = await world.addExecutor({ name: "db", target: { kind: "container", id: "db" } });
    await updateTimes(other, 1);
    const executor = await world.addExecutor();
    await updateTimes(executor, 2);
    expect(await references(other)).toEqual(["1.0"]);
    expect(await references(executor)).toEqual(["1.1"]);
  });
});

describe("a snapshot that cannot be read", () => {
  const spoil = async () => {
    const other = createSealer({ keys: { primary: generateFernetKey() }, clock: world.clock, onOpen: () => undefined });
    await world.db.write((tx) => tx.update(snapshots).set({ sealed_content: other.seal("{}") }));
  };

  test("fails the rollback that wants it, with the reason, and nothing is touched", async () => {
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    await spoil();
    const run = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(run).toMatchObject({ kind: "rollback", state: "failed", reason_code: "snapshot_missing" });
    expect(run.reason).toMatchObject({ code: "snapshots.unreadable" });
    expect(world.engine.get("web").image).toBe("registry.test/app:1.1");
  });

  test("keeps no failed run from restoring the previous version", async () => {
    world.engine.judge = () => ({ ready: false, detail: plain("Exited"), final: true });
    world.engine.lastLogs = async () => {
      await spoil();
      return [];
    };
    const run = await world.update(await world.addExecutor());
    expect(run).toMatchObject({ state: "failed", serving: "previous" });
    expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.0", running: true });
  });
});

describe("a rollback", () => {
  test("brings back the configuration and the image, and is told as a rollback", async () => {
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    const run = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(run).toMatchObject({ kind: "rollback", state: "succeeded", serving: "desired", to_digest: digest("a") });
    expect(world.engine.get("web")).toMatchObject({
      image: "registry.test/app:1.0",
      digest: digest("a"),
      running: true,
    });
    const last = (await world.events()).at(-1);
    expect(last?.facts).toMatchObject({
      kind: "rollback",
      from: { tag: "1.1", digest: digest("b") },
      to: { tag: "1.0", digest: digest("a") },
    });
  });

  test.each([
    ["goes on where what it replaces is past saving", "not_found", "succeeded", "registry.test/app:1.0"],
    ["touches nothing where that could not be asked", "unreachable", "failed", "registry.test/app:1.1"],
  ] as const)("%s", async (_, code, state, image) => {
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    world.engine.failures.set("capture", new PluginError(code, plain("The image that it was made from is gone")));
    expect(await world.update(executor, { snapshot_id: snapshot?.id })).toMatchObject({ state });
    expect(world.engine.get("web").image).toBe(image);
  });

  test("puts the newer one back when the older one does not come up", async () => {
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    world.engine.failures.set("start", new PluginError("rejected", plain("Start: 500")));
    const run = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(run).toMatchObject({ state: "failed", serving: "previous" });
    expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.1", running: true });
  });

  test("in the place of a container that nobody knows is made with the hash of its plan alone", async () => {
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    const message = '"web" is another container now';
    world.engine.warnings = [{ code: "other_container", message: plain(message) }];
    const snapshot_id = snapshot?.id ?? "";
    const unasked = await world.update(executor, { snapshot_id });
    expect(unasked).toMatchObject({ state: "skipped", reason_code: "target_refused" });
    expect(english(unasked.reason)).toContain(message);
    expect(world.engine.get("web").image).toBe("registry.test/app:1.1");
    const { plan_hash, warnings } = await world.main.snapshots.diff(snapshot_id, new AbortController().signal);
    expect(warnings).toMatchObject([{ message }]);
    expect(await world.update(executor, { snapshot_id, plan_hash })).toMatchObject({ state: "succeeded" });
    expect(world.engine.get("web").image).toBe("registry.test/app:1.0");
  });

  describe("of a target that is down", () => {
    /** `ran`: what the snapshot was captured from. The newer one is down in any case. */
    async function down(ran: boolean, settings: Record<string, unknown> = {}) {
      if (!ran) world.engine.setRunning("web", false);
      const executor = await world.addExecutor(settings);
      await updateTimes(executor, 1);
      const [snapshot] = (await world.main.snapshots.list({})).items;
      world.engine.setRunning("web", false);
      return { executor, snapshot_id: snapshot?.id };
    }

    test("starts what ran when it was captured, checks its health and says so", async () => {
      const { executor, snapshot_id } = await down(true);
      const run = await world.update(executor, { snapshot_id });
      expect(run).toMatchObject({
        state: "succeeded",
        reason_code: "started_again",
        reason: say("runs.started_for_snapshot"),
        serving: "desired",
        downtime_ms: null,
        ready_ms: null,
      });
      expect(await world.steps(run.id)).toContain("verify finish");
      expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.0", running: true });
      expect([...world.engine.containers.keys()]).toEqual(["web"]);
    });

    test("starts it without a health check too", async () => {
      const { executor, snapshot_id } = await down(true, { health_check: { strategy: "disabled" } });
      const run = await world.update(executor, { snapshot_id });
      expect(run).toMatchObject({ state: "succeeded", reason_code: "started_again", serving: "desired" });
      expect(world.engine.running()).toEqual(["web"]);
    });

    test("leaves what was stopped when it was captured stopped", async () => {
      const { executor, snapshot_id } = await down(false);
      const run = await world.update(executor, { snapshot_id });
      expect(run).toMatchObject({ state: "succeeded", reason_code: "left_stopped", serving: "desired" });
      expect(await world.steps(run.id)).not.toContain("verify begin");
      expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.0", running: false });
    });

    test("starts it again also where nothing but that differs", async () => {
      const { executor, snapshot_id } = await down(true);
      await world.update(executor, { snapshot_id });
      world.engine.setRunning("web", false);
      const run = await world.update(executor, { snapshot_id });
      expect(run).toMatchObject({ state: "succeeded", reason_code: "started_again", serving: "desired" });
      expect(world.engine.running()).toEqual(["web"]);
    });

    test("that does not pass its health check puts the newer one back, down as it was, and says that it is down", async () => {
      const { executor, snapshot_id } = await down(true);
      world.engine.judge = () => ({ ready: false, detail: plain("Exited with code 1"), final: true });
      const run = await world.update(executor, { snapshot_id });
      expect(run).toMatchObject({ state: "failed", reason_code: "target_down", serving: "none" });
      expect(english(run.reason)).toContain("did not pass its health check: Exited with code 1. Target down");
      expect([...world.engine.containers.values()].map(({ name, image, running }) => [name, image, running])).toEqual([
        ["web", "registry.test/app:1.1", false],
      ]);
    });
  });

  test("to what was captured while it was down leaves nothing down that serves", async () => {
    world.engine.setRunning("web", false);
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    world.engine.setRunning("web", true);
    const run = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(run).toMatchObject({ state: "succeeded", reason_code: null, serving: "desired" });
    expect(world.engine.get("web")).toMatchObject({ image: "registry.test/app:1.0", running: true });
  });

  test("to what runs already is skipped", async () => {
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    await world.update(executor, { snapshot_id: snapshot?.id });
    const again = await world.update(executor, { snapshot_id: snapshot?.id });
    expect(again).toMatchObject({ state: "skipped", reason_code: "already_current" });
  });

  test("to a snapshot of another executor is refused", async () => {
    const executor = await world.addExecutor();
    await updateTimes(executor, 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    const other = await world.addExecutor({ name: "other", target: { kind: "container", id: "other" } });
    const error = await refused(world.main.runs.create(systemActor, other, { snapshot_id: snapshot?.id }));
    expect(Object.keys(error.fields ?? {})).toEqual(["snapshot_id"]);
  });
});

describe("snapshotService()", () => {
  test("shows the configuration without the values of environment variables", async () => {
    await updateTimes(await world.addExecutor(), 1);
    const [snapshot] = (await world.main.snapshots.list({})).items;
    const detail = await world.main.snapshots.get(snapshot?.id ?? "");
    expect(detail.content).toMatchObject({ Name: "web", Config: { Env: ["SECRET_WORD=••••••"] } });
    expect(JSON.stringify([detail, await world.main.snapshots.list({})])).not.toContain("correct-horse-battery");
  });

  test("refuses to delete a locked one, and deletes it once it is unlocked", async () => {
    await updateTimes(await world.addExecutor(), 1);
    const id = (await world.main.snapshots.list({})).items[0]?.id ?? "";
    await world.main.snapshots.update(systemActor, id, { is_locked: true });
    expect((await refused(world.main.snapshots.remove(systemActor, id))).code).toBe("snapshot_locked");
    await world.main.snapshots.update(systemActor, id, { is_locked: false });
    await world.main.snapshots.remove(systemActor, id);
    expect((await refused(world.main.snapshots.get(id))).status).toBe(404);
  });
});

test("the snapshot that a run has captured is not deleted while the run may need it", async () => {
  const executor = await world.addExecutor();
  const { id } = await world.main.runs.create(systemActor, executor, {});
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.probe.attempt = async () => {
    started.resolve();
    await goOn.promise;
    return { ready: true, detail: plain("Answered") };
  };
  await world.main.executors.update(systemActor, executor, {
    health_check: { strategy: "tcp", probe: { host: "127.0.0.1", port: 1 } },
  });
  const going = world.main.runs.work.perform({ id }, new AbortController().signal);
  const reached = world.clock.runUntil(started.promise);
  await reached;
  const [snapshot] = (await world.main.snapshots.list({})).items;
  expect((await refused(world.main.snapshots.remove(systemActor, snapshot?.id ?? ""))).status).toBe(409);
  goOn.resolve();
  await world.clock.runUntil(going);
  await world.main.snapshots.remove(systemActor, snapshot?.id ?? "");
});

test("maskEnvironment() masks at every depth and keeps names and everything else", () => {
  const content = { a: [{ Env: ["A=1", "B", "C=x=y"], Cmd: ["--port=80"] }], env: { kept: "not a list" } };
  expect(maskEnvironment(content)).toEqual({
    a: [{ Env: ["A=••••••", "B", "C=••••••"], Cmd: ["--port=80"] }],
    env: { kept: "not a list" },
  });
});

test("maskEnvironment() masks files that were carried, and Podman's command line, which repeats the variables", () => {
  const member = { name: "web", files: "c2VjcmV0", container: { Config: { CreateCommand: ["podman", "-e", "A=1"] } } };
  expect(maskEnvironment({ members: [member, { name: "db", files: null }] })).toEqual({
    members: [
      { name: "web", files: "••••••", container: { Config: { CreateCommand: "••••••" } } },
      { name: "db", files: null },
    ],
  });
});
