import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Flavour } from "../../src/runtimes/engine/flavour.ts";
import { objectAt } from "../../src/runtimes/engine/raw.ts";
import type { Journal } from "../../src/runtimes/journal.ts";
import type { Recovery } from "../../src/runtimes/session.ts";
import { type EngineMode, startEngine, type TestEngine } from "../peers/engine.ts";
import { engineSuite, isWholeMatrix, kindOf, matrixSuite, pointsOf, repeated } from "../support/engine-modes.ts";
import { type EngineProxy, startEngineProxy } from "../support/engine-proxy.ts";
import { type MemoryJournal, memoryJournal, ProcessDeath } from "../support/memory-journal.ts";
import { apply } from "../support/prepared.ts";
import { readJournal, type UpdateArguments } from "../support/update-process.ts";
import {
  changeTo,
  containersNamed,
  downAfterUpdate,
  images,
  importImages,
  inspectContainer,
  openSession,
  removeContainers,
  restore,
  runContainer,
  target,
} from "../support/update-target.ts";

const program = join(import.meta.dir, "..", "support", "update-process.ts");
const folder = mkdtempSync(join(tmpdir(), "tidemark-crash-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an update in a process of its own, and answers what its journal says. */
async function runUpdate(engine: TestEngine, name: string, options: Partial<UpdateArguments>) {
  const journal = join(folder, `${name}.ndjson`);
  writeFileSync(journal, "");
  const runId = crypto.randomUUID();
  const base = {
    address: engine.address,
    kind: kindOf(engine.mode),
    name,
    image: images.next,
    snapshot: null,
    journal,
    run_id: runId,
  };
  const all: UpdateArguments = { ...base, die_at: 0, die_when: "after", ending: "finish", ...options };
  const child = Bun.spawn([process.execPath, program, JSON.stringify(all)], { stdout: "pipe", stderr: "pipe" });
  const stderr = await new Response(child.stderr).text();
  await child.exited;
  return { child, stderr, journal: readJournal(journal, runId) };
}

/** What the next process does: recover, and when that says so, verify and end the run. */
async function recover(
  engine: TestEngine,
  name: string,
  journal: ReturnType<typeof readJournal>,
  snapshot: string | null = null,
): Promise<Recovery> {
  await using session = await openSession(engine);
  const recovery = await session.recover(target(name), journal, snapshot);
  if (recovery.state === "started") await session.finish(target(name), journal);
  return recovery;
}

async function expectOne(engine: TestEngine, name: string, state: "running" | "exited"): Promise<string> {
  const found = await containersNamed(engine, name);
  expect(found.map((each) => `${each.name} ${each.state}`)).toEqual([`${name} ${state}`]);
  const container = await inspectContainer(engine, name);
  expect(container.HostConfig).toMatchObject({ RestartPolicy: { Name: "always" } });
  return found[0]?.image ?? "";
}

const withPolicy = { HostConfig: { RestartPolicy: { Name: "always" } } };

matrixSuite("kill -9 of our process", (mode, inTurn) => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
  }, 120_000);
  afterAll(async () => {
    await engine.stop();
  }, 60_000);

  inTurn.each(
    repeated([
      { ending: "finish", writes: 15, ends: images.next },
      { ending: "undo", writes: 14, ends: images.old },
    ] as const),
  )(
    "at every write of an update that ends in $ending leaves exactly one running",
    async (path) => {
      for (const write of pointsOf(mode, { last: 60 })) {
        for (const when of ["before", "after"] as const) {
          const name = `crash-${path.ending}-${write}-${when}`;
          await runContainer(engine, name, withPolicy);
          const { child, stderr, journal } = await runUpdate(engine, name, {
            die_at: write,
            die_when: when,
            ending: path.ending,
          });
          if (child.signalCode === null) {
            // The last write is behind us: this one was never reached, and the update went through.
            expect([child.exitCode, stderr]).toEqual([0, ""]);
            expect(await expectOne(engine, name, "running")).toBe(path.ends);
            expect(write).toBeGreaterThan(path.writes);
            await removeContainers(engine, name);
            return;
          }
          const recovery = await recover(engine, name, journal);
          const image = await expectOne(engine, name, "running");
          const label = `${name}: ${journal.written().at(-1)} -> ${recovery.state}`;
          expect([label, image]).toEqual([label, recovery.state === "untouched" ? images.old : images.next]);
          // Once more changes nothing.
          await recover(engine, name, readJournal(join(folder, `${name}.ndjson`), journal.run_id));
          expect([label, await expectOne(engine, name, "running")]).toEqual([label, image]);
          await removeContainers(engine, name);
        }
      }
      throw new Error("The update never came to its end");
    },
    600_000,
  );

  inTurn.each(
    repeated([
      { ending: "finish", writes: 15, ends: "restored" },
      { ending: "undo", writes: 15, ends: "down" },
    ] as const),
  )(
    "at every write of a rollback of what is down, that ends in $ending, leaves the restored one running or the other down",
    async (path) => {
      const expectEnd = async (name: string, end: "restored" | "down") => {
        const image = await expectOne(engine, name, end === "restored" ? "running" : "exited");
        expect([name, image]).toEqual([name, end === "restored" ? images.old : images.next]);
      };
      const ends = new Set<string>();
      for (const write of pointsOf(mode, { last: 60, sparser: 2 })) {
        for (const when of ["before", "after"] as const) {
          const name = `rollback-${path.ending}-${write}-${when}`;
          const snapshot = await downAfterUpdate(engine, name, withPolicy);
          const { ending } = path;
          const death = { die_at: write, die_when: when };
          const { child, stderr, journal } = await runUpdate(engine, name, { snapshot, ending, ...death });
          if (child.signalCode === null) {
            expect([child.exitCode, stderr]).toEqual([0, ""]);
            await expectEnd(name, path.ends);
            expect(write).toBeGreaterThan(path.writes);
            // Few of the writes lead to one of the two ends, and some of the points may miss them.
            if (isWholeMatrix) expect([...ends].sort()).toEqual(["down", "restored"]);
            await removeContainers(engine, name);
            return;
          }
          const recovery = await recover(engine, name, journal);
          const end = recovery.state === "untouched" ? "down" : "restored";
          ends.add(end);
          await expectEnd(name, end);
          // Once more changes nothing.
          await recover(engine, name, readJournal(join(folder, `${name}.ndjson`), journal.run_id));
          await expectEnd(name, end);
          await removeContainers(engine, name);
        }
      }
      throw new Error("The rollback never came to its end");
    },
    600_000,
  );
});

matrixSuite("recovery and the lease", (mode, inTurn) => {
  let engine: TestEngine;
  let proxy: EngineProxy;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    proxy = await startEngineProxy(engine.socket, join(tmpdir(), `tidemark-lease-${process.pid}-${mode}.sock`));
  }, 120_000);
  afterAll(async () => {
    await proxy.stop();
    await engine.stop();
  }, 60_000);

  /** An update that dies at a write; the journal that it leaves. */
  async function leave(name: string, write: number): Promise<MemoryJournal> {
    await runContainer(engine, name, withPolicy);
    const journal = memoryJournal();
    journal.dieAt(write, "after");
    await expect(update(engine, kindOf(mode), name, journal)).rejects.toThrow("The process died");
    return journal.reopened();
  }

  // Writes 7 and 10: both renamed and the stop under way; the new one started.
  inTurn.each(repeated([7, 10]))(
    "recovery from write %d may itself die at any write",
    async (left) => {
      for (const write of pointsOf(mode)) {
        for (const when of ["before", "after"] as const) {
          const name = `again-${left}-${write}-${when}`;
          const journal = await leave(name, left);
          journal.dieAt(write, when);
          const first = await recover(engine, name, journal).catch((error: unknown) => error);
          const last = await recover(engine, name, journal.reopened());
          const label = `${name}: ${journal.written().at(-1)} -> ${last.state}`;
          const found = await containersNamed(engine, name);
          expect([label, ...found.map((each) => `${each.name} ${each.state}`)]).toEqual([label, `${name} running`]);
          await removeContainers(engine, name);
          if (first instanceof ProcessDeath) continue;
          expect(write).toBeGreaterThan(2);
          return;
        }
      }
    },
    300_000,
  );

  inTurn(
    "an update whose lease is lost touches nothing more",
    async () => {
      for (const write of pointsOf(mode)) {
        const name = `lease-${write}`;
        await runContainer(engine, name);
        const journal = memoryJournal();
        journal.dieAt(write, "before");
        let callsAtLoss: number | null = null;
        const guarded = <A extends readonly unknown[]>(act: (...args: A) => Promise<void>) => {
          return async (...args: A) => {
            await act(...args).catch((error: unknown) => {
              callsAtLoss ??= proxy.calls().length;
              throw error;
            });
          };
        };
        const watched: Journal = {
          ...journal,
          begin: guarded(journal.begin),
          finish: guarded(journal.finish),
          fail: guarded(journal.fail),
        };
        proxy.breakCall(0, "500");
        const failure = await update(proxy, kindOf(mode), name, watched).catch((error: unknown) => error);
        // The stop and the start are journalled first and then go on beside the next write; nothing else may.
        const underWay = new Set(["stop", "start"].filter((step) => journal.written().includes(`${step} begin`)));
        const later = proxy
          .calls()
          .slice(callsAtLoss ?? Number.POSITIVE_INFINITY)
          .filter((call) => !underWay.has(call.slice(call.lastIndexOf("/") + 1)));
        expect([write, ...later]).toEqual([write]);
        await removeContainers(engine, name);
        if (callsAtLoss !== null) {
          expect(failure).toBeInstanceOf(ProcessDeath);
          continue;
        }
        expect(failure).toBeUndefined();
        expect(write).toBeGreaterThan(10);
        return;
      }
    },
    120_000,
  );
});

function engineKills(mode: EngineMode, liveRestore: boolean): void {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine({ mode, liveRestore });
    await importImages(engine);
  }, 120_000);
  afterAll(() => engine.stop(), 60_000);

  // `no` is the hard case: an engine that comes up again leaves such containers stopped, the previous one too.
  test.each(repeated(["no", "always", "unless-stopped"]))(
    "after every write of an update, with the restart policy %s, leaves exactly one running",
    async (policy) => {
      for (const write of pointsOf(mode, { sparser: liveRestore ? 2 : 1 })) {
        const name = `engine-${policy}-${write}`;
        await runContainer(engine, name, { HostConfig: { RestartPolicy: { Name: policy } } });
        const snapshot = await capture(engine, name);
        const journal = memoryJournal();
        let wasKilled = false;
        journal.afterWrite(write, async () => {
          wasKilled = true;
          await engine.kill();
        });
        const failure = await update(engine, kindOf(mode), name, journal).catch((error: unknown) => error);
        if (!wasKilled) {
          expect([write, failure]).toEqual([write, undefined]);
          expect(write).toBeGreaterThan(10);
          await removeContainers(engine, name);
          return;
        }
        await engine.restart();
        const recovery = await recover(engine, name, journal.reopened(), snapshot);
        const found = await containersNamed(engine, name);
        const label = `${name}: ${journal.written().at(-1)} -> ${recovery.state}`;
        expect([label, ...found.map((each) => `${each.name} ${each.state}`)]).toEqual([label, `${name} running`]);
        const container = await inspectContainer(engine, name);
        expect([label, objectAt(container.HostConfig).RestartPolicy]).toMatchObject([label, { Name: policy }]);
        await removeContainers(engine, name);
      }
    },
    300_000,
  );

  test.each(repeated(["no", "always"]))(
    "after every write of a rollback of what is down, with the restart policy %s, leaves exactly one",
    async (policy) => {
      for (const write of pointsOf(mode, { sparser: liveRestore ? 2 : 1 })) {
        const name = `engine-rollback-${policy}-${write}`;
        const snapshot = await downAfterUpdate(engine, name, { HostConfig: { RestartPolicy: { Name: policy } } });
        // As a run has it: a Docker with live-restore may never start again what it was stopping.
        const captured = await capture(engine, name);
        const journal = memoryJournal();
        let wasKilled = false;
        journal.afterWrite(write, async () => {
          wasKilled = true;
          await engine.kill();
        });
        const failure = await rollBack(engine, name, snapshot, journal).catch((error: unknown) => error);
        if (!wasKilled) {
          expect([write, failure]).toEqual([write, undefined]);
          expect(write).toBeGreaterThan(12);
          await removeContainers(engine, name);
          return;
        }
        await engine.restart();
        const recovery = await recover(engine, name, journal.reopened(), captured);
        const found = await containersNamed(engine, name);
        const label = `${name}: ${journal.written().at(-1)} -> ${recovery.state}`;
        expect([label, ...found.map((each) => each.name)]).toEqual([label, name]);
        expect(statesOf(recovery, policy)).toContain(found[0]?.state ?? label);
        const container = await inspectContainer(engine, name);
        expect([label, objectAt(container.HostConfig).RestartPolicy]).toMatchObject([label, { Name: policy }]);
        await removeContainers(engine, name);
      }
    },
    300_000,
  );
}

matrixSuite("kill -9 of the engine", (mode) => engineKills(mode, false));
// Podman has no such setting: its containers outlive its service in any case.
const keepingAlive = isWholeMatrix
  ? (["docker-20", "docker-29", "docker-29-containerd"] as const)
  : (["docker-20"] as const);
engineSuite("kill -9 of the engine, live-restore on", (mode) => engineKills(mode, true), keepingAlive);

async function capture(engine: TestEngine, name: string): Promise<string | null> {
  await using session = await openSession(engine);
  return (await session.snapshots?.capture(target(name))) ?? null;
}

async function rollBack(engine: TestEngine, name: string, snapshot: string, journal: Journal): Promise<void> {
  await using session = await openSession(engine);
  await restore(session, target(name), snapshot, journal);
  await session.finish(target(name), journal);
}

/** Of one that was down when an engine with the policy `always` came up again, the engine itself may have started it. */
function statesOf(recovery: Recovery, policy: string): readonly string[] {
  if (recovery.state !== "untouched") return ["running"];
  return policy === "always" ? ["running", "exited"] : ["exited"];
}

async function update(
  engine: { socket: string },
  kind: Flavour["kind"],
  name: string,
  journal: Journal,
): Promise<void> {
  await using session = await openSession(`unix://${engine.socket}`, { kind });
  const plan = await session.plan(target(name), [changeTo(images.next)]);
  await apply(session, plan, journal);
  await session.finish(target(name), journal);
}
