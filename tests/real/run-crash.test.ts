import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { events, runs, tracker_channels, tracker_sources, trackers } from "../../src/db/tables.ts";
import { generateFernetKey } from "../../src/secrets/fernet.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { type Registry, startRegistry } from "../peers/registry.ts";
import { pushImage } from "../support/oci-image.ts";
import { peerSuite } from "../support/peer.ts";
import { openRunParts, type RunProcessArguments } from "../support/run-process.ts";
import { type TemporaryDatabase, temporaryDatabase } from "../support/temporary-database.ts";
import { containersNamed, removeContainers, runContainer } from "../support/update-target.ts";
import { worldMissing } from "../support/world.ts";

const program = join(import.meta.dir, "..", "support", "run-process.ts");
const live = new AbortController().signal;
const limit = 900_000;

peerSuite("runs: kill -9 of our process at each write", worldMissing(), () => {
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

  const killAtEachWrite = async (kind: keyof typeof desired, stride: number): Promise<string[]> => {
    const ends: string[] = [];
    for (let point = 1; point < 120; point += stride) {
      const name = `${kind}-${point}`;
      await runContainer(engine, name, { Image: old, HostConfig: { RestartPolicy: { Name: "always" } } });
      const wanted = desired[kind];
      const parts = openRunParts({
        db: temporary.db,
        key,
        instance_id: `next-${point}`,
        desired: wanted,
        gate: async () => undefined,
      });
      const executor = await parts.executors.create(systemActor, {
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
      const { id } = await parts.runs.create(systemActor, executor.id, {});
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
      for (const item of await parts.runs.work.due(Date.now(), 10)) await parts.runs.work.perform(item, live);
      ends.push(await expectWhole(id, name, wanted));
      await removeContainers(engine, name);
      if (!hasDied) return ends;
    }
    throw new Error("The run has no end");
  };

  const expectWhole = async (id: string, name: string, wanted: { image: string; tag: string }): Promise<string> => {
    const [run] = await temporary.db.read.select().from(runs).where(eq(runs.id, id));
    const told = await temporary.db.read.select().from(events).where(eq(events.run_id, id));
    const label = `${run?.state} ${run?.reason_code} ${run?.serving}`;
    const image = run?.serving === "desired" ? `${wanted.image}:${wanted.tag}` : old;
    const found = await containersNamed(engine, name);
    expect([name, label, run?.reason, ...found]).toEqual([name, label, run?.reason, { name, state: "running", image }]);
    expect([name, label, told.length, run?.cleanup_due_at, run?.lease_owner]).toEqual([name, label, 1, null, null]);
    return label;
  };

  test(
    "an update leaves exactly one container, one end and one event",
    async () => {
      const ends = await killAtEachWrite("healthy", 1);
      expect([...new Set(ends)].sort()).toEqual(["failed interrupted previous", "succeeded null desired"]);
      expect(ends.length).toBeGreaterThan(40);
    },
    limit,
  );

  test(
    "an update that is put back leaves exactly one container, one end and one event",
    async () => {
      // Every other point, which is the one before each write: the ones after differ by a line of the journal alone.
      const ends = await killAtEachWrite("unhealthy", 2);
      expect([...new Set(ends)].sort()).toEqual(["failed interrupted previous", "failed unhealthy previous"]);
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
    await tx.insert(tracker_channels).values({ id: "channel", source_id: "source", type: "stable", position: 0 });
  });
}
