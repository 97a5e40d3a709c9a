import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { events, runs, snapshots, tracker_channels, tracker_sources, trackers } from "../../src/db/tables.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { type Registry, startRegistry } from "../peers/registry.ts";
import { isWholeMatrix, pointsBy } from "../support/engine-modes.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { openRunParts, type RunProcessArguments } from "../support/run-process.ts";
import { storyMissing } from "../support/story.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";
import { containersNamed, removeContainers, runContainer } from "../support/update-target.ts";

const program = join(import.meta.dir, "..", "support", "run-process.ts");
const live = new AbortController().signal;
const limit = 900_000;

peerSuite("runs: kill -9 of our process at each write", storyMissing(), () => {
  let engine: TestEngine;
  let registry: Registry;
  let temporary: TemporaryDatabase;
  let connection = "";
  let old = "";
  const key = generateFernetKey();
  const desired = {
    healthy: { image: "", tag: "2.0.0", digest: "" },
    unhealthy: { image: "", tag: "3.0.0", digest: "" },
  };
  /** Exit code 0 or 1, asked for each 200 ms, so that a verdict comes soon. */
  const healthcheck = (code: number) => ({
    Test: ["CMD", "/bin/sh", "-c", `exit ${code}`],
    Interval: 200_000_000,
    Timeout: 5_000_000_000,
    Retries: 1,
  });

  beforeAll(async () => {
    engine = await startEngine();
    registry = await startRegistry();
    temporary = await temporaryDatabase();
    const image = `${registry.host}/lab/app`;
    const push = (tag: string, code: number) =>
      pushImage(registry.url, registry.auth, "lab/app", tag, { version: tag, healthcheck: healthcheck(code) });
    await push("1.0.0", 0);
    desired.healthy = { ...desired.healthy, image, digest: await push("2.0.0", 0) };
    desired.unhealthy = { ...desired.unhealthy, image, digest: await push("3.0.0", 1) };
    old = `${image}:1.0.0`;
    const pulled = await fetch(`http://localhost/images/create?fromImage=${encodeURIComponent(old)}`, {
      method: "POST",
      unix: engine.socket,
    });
    if (!pulled.ok || (await pulled.text()).includes('"error"')) throw new Error("The first image was not pulled");
    await addTracker(temporary);
    const { connections } = openRunParts({
      db: temporary.db,
      key,
      instance_id: "setup",
      desired: desired.healthy,
      gate: async () => undefined,
    });
    const created = await connections.create(systemActor, {
      name: "lab",
      kind: "docker",
      config: { address: engine.address },
    });
    connection = created.id;
  }, limit);
  afterAll(async () => {
    await temporary?.close();
    await registry?.stop();
    await engine?.stop();
  }, limit);

  type Parts = ReturnType<typeof openRunParts>;
  type Wanted = (typeof desired)["healthy"];

  /** A container from the old image, with an executor on it, seen by the process that comes after the dying one. */
  const prepare = async (name: string, wanted: Wanted): Promise<{ parts: Parts; executor: string }> => {
    await runContainer(engine, name, { Image: old, HostConfig: { RestartPolicy: { Name: "always" } } });
    const parts = openRunParts({
      db: temporary.db,
      key,
      instance_id: `next-${name}`,
      desired: wanted,
      gate: async () => undefined,
    });
    const { id: executor } = await parts.executors.create(systemActor, {
      name,
      connection_id: connection,
      target: { kind: "container", id: name },
      bindings: [{ tracker: "app", source: "main", channel: "stable" }],
      trigger: "manual",
      health_check: {
        strategy: "auto",
        initial_delay_seconds: 0,
        probe_interval_seconds: 1,
        total_probe_duration_seconds: 20,
      },
    });
    return { parts, executor };
  };

  const performDue = async ({ runs: { work } }: Parts): Promise<void> => {
    for (const item of await work.due(Date.now(), 10)) await work.perform(item, live);
  };

  /** Performs a run in a process that dies at a point, and then in another; false when it had ended before. */
  const dieAndTakeOver = async (parts: Parts, id: string, wanted: Wanted, point: number): Promise<boolean> => {
    const options: RunProcessArguments = {
      database_url: `file:${temporary.dir}/tidemark.db`,
      key,
      run_id: id,
      desired: wanted,
      die_at: point,
    };
    const child = Bun.spawn([process.execPath, program, JSON.stringify(options)], { stdout: "pipe", stderr: "pipe" });
    const stderr = await new Response(child.stderr).text();
    await child.exited;
    const hasDied = child.signalCode === "SIGKILL";
    if (!hasDied) expect([child.exitCode, stderr]).toEqual([0, ""]);
    await parts.runs.takeOver();
    await performDue(parts);
    return hasDied;
  };

  const killAtEachWrite = async (kind: keyof typeof desired, stride: number): Promise<string[]> => {
    const ends: string[] = [];
    const wanted = desired[kind];
    const next = `${wanted.image}:${wanted.tag}`;
    for (const point of pointsBy(stride, { last: 120 })) {
      const name = `${kind}-${point}`;
      const { parts, executor } = await prepare(name, wanted);
      const { id } = await parts.runs.create(systemActor, executor, {});
      const hasDied = await dieAndTakeOver(parts, id, wanted, point);
      ends.push(await expectWhole(id, name, (serving) => `running ${serving === "desired" ? next : old}`));
      await removeContainers(engine, name);
      if (!hasDied) return ends;
    }
    throw new Error("The run has no end");
  };

  /** `stateFor`: state and image of the one container that there is to be. */
  const expectWhole = async (id: string, name: string, stateFor: (serving: string) => string): Promise<string> => {
    const [run] = await temporary.db.read.select().from(runs).where(eq(runs.id, id));
    const told = await temporary.db.read.select().from(events).where(eq(events.run_id, id));
    const label = `${run?.state} ${run?.reason_code} ${run?.serving}`;
    const found = (await containersNamed(engine, name)).map((each) => [each.name, `${each.state} ${each.image}`]);
    const wanted = [[name, stateFor(run?.serving ?? "")]];
    expect([name, label, run?.reason, ...found]).toEqual([name, label, run?.reason, ...wanted]);
    expect([name, label, told.length, run?.cleanup_due_at, run?.lease_owner]).toEqual([name, label, 1, null, null]);
    return label;
  };

  test(
    "an update leaves exactly one container, one end and one event",
    async () => {
      const ends = await killAtEachWrite("healthy", 11);
      expect([...new Set(ends)].sort()).toEqual(["failed interrupted previous", "succeeded null desired"]);
      expect(ends.length).toBeGreaterThan(isWholeMatrix ? 40 : 3);
    },
    limit,
  );

  test(
    "an update that is put back leaves exactly one container, one end and one event",
    async () => {
      const ends = await killAtEachWrite("unhealthy", 9);
      expect([...new Set(ends)].sort()).toEqual(["failed interrupted previous", "failed unhealthy previous"]);
    },
    limit,
  );

  test(
    "a rollback of a container that is down leaves exactly one container, one end and one event",
    async () => {
      const ends: string[] = [];
      const wanted = desired.healthy;
      const next = `${wanted.image}:${wanted.tag}`;
      for (const point of pointsBy(17)) {
        const name = `rollback-${point}`;
        const { parts, executor } = await prepare(name, wanted);
        const update = await parts.runs.create(systemActor, executor, {});
        await parts.runs.work.perform({ id: update.id }, live);
        const [kept] = await temporary.db.read.select().from(snapshots).where(eq(snapshots.run_id, update.id));
        await engine.call("POST", `/containers/${name}/kill`);
        const { id } = await parts.runs.create(systemActor, executor, { snapshot_id: kept?.id });
        const hasDied = await dieAndTakeOver(parts, id, wanted, point);
        ends.push(
          await expectWhole(id, name, (serving) => (serving === "desired" ? `running ${old}` : `exited ${next}`)),
        );
        await removeContainers(engine, name);
        if (!hasDied) break;
      }
      expect([...new Set(ends)].sort()).toEqual(["failed target_down none", "succeeded started_again desired"]);
      expect(ends.length).toBeGreaterThan(isWholeMatrix ? 40 : 2);
    },
    limit,
  );
});

async function addTracker({ db }: TemporaryDatabase): Promise<void> {
  await db.write(async (tx) => {
    await tx.insert(trackers).values({
      id: "tracker",
      name: "app",
      check_interval_minutes: 360,
      fetch_depth: 10,
      request_timeout_seconds: 15,
      sorting: "publish_time",
      created_at: 1,
      updated_at: 1,
    });
    const source = { id: "source", tracker_id: "tracker", key: "main", position: 0, kind: "oci", config: {} };
    await tx.insert(tracker_sources).values({ ...source, next_check_at: 1 });
    await tx
      .insert(tracker_channels)
      .values({ id: "channel", source_id: "source", name: "stable", type: "stable", position: 0 });
  });
}
