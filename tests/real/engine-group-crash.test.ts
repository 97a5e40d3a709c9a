import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Recovery } from "../../src/runtimes/session.ts";
import { allEngineModes, type EngineMode, startEngine, type TestEngine } from "../peers/engine.ts";
import {
  engineSuite,
  isPodman,
  isWholeMatrix,
  kindOf,
  matrixSuite,
  pointsOf,
  repeated,
} from "../support/engine-modes.ts";
import type { GroupArguments } from "../support/group-process.ts";
import { group, removeGroup, updateGroup } from "../support/group-target.ts";
import { expectWholeTrio, runTrio, trioVolume, wholeTrio } from "../support/group-trio.ts";
import { type MemoryJournal, memoryJournal } from "../support/memory-journal.ts";
import { readJournal } from "../support/update-process.ts";
import { importImages, openSession } from "../support/update-target.ts";

const program = join(import.meta.dir, "..", "support", "group-process.ts");
const folder = mkdtempSync(join(tmpdir(), "tidemark-group-crash-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Cases that go on at once: each waits for its engine most of the time. */
const atOnce = 3;

async function recover(
  engine: TestEngine,
  mode: EngineMode,
  project: string,
  journal: MemoryJournal,
  snapshot: string | null = null,
): Promise<Recovery> {
  await using session = await openSession(engine.address, { kind: kindOf(mode) });
  const recovery = await session.recover(group(project), journal, snapshot);
  if (recovery.state === "started") await session.finish(group(project), journal);
  return recovery;
}

matrixSuite("kill -9 of our process in the middle of a group", (mode, inTurn) => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
  }, 120_000);
  afterAll(() => engine.stop(), 60_000);

  async function runUpdate(project: string, options: Pick<GroupArguments, "die_at" | "die_when" | "ending">) {
    const journal = join(folder, `${project}.ndjson`);
    writeFileSync(journal, "");
    const base = { address: engine.address, kind: kindOf(mode), project, to: wholeTrio, journal };
    const run_id = crypto.randomUUID();
    const child = Bun.spawn([process.execPath, program, JSON.stringify({ ...base, run_id, ...options })], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const stderr = await new Response(child.stderr).text();
    await child.exited;
    return { child, stderr, journal: readJournal(journal, run_id) };
  }

  /** Answers whether the process was killed, or went through because it has no such write. */
  async function tryAt(write: number, when: "before" | "after", ending: "finish" | "undo", round: number) {
    const project = `g${ending}${write}${when}${round}`;
    await runTrio(engine, project);
    const volume = await trioVolume(engine, project);
    const { child, stderr, journal } = await runUpdate(project, { die_at: write, die_when: when, ending });
    if (child.signalCode === null) {
      expect([child.exitCode, stderr]).toEqual([0, ""]);
      const whole = await expectWholeTrio(engine, project, project, volume);
      expect(whole).toBe(ending === "finish" ? "new" : "old");
      await removeGroup(engine, project);
      return false;
    }
    const last = journal.entries().at(-1);
    const recovery = await recover(engine, mode, project, journal);
    const label = `${project}: ${last?.step} ${last?.phase} of ${last?.facts.container} -> ${recovery.state}`;
    const whole = await expectWholeTrio(engine, project, label, volume);
    expect([label, whole]).toEqual([label, recovery.state === "untouched" ? "old" : "new"]);
    // Once more changes nothing.
    await recover(engine, mode, project, readJournal(join(folder, `${project}.ndjson`), journal.run_id));
    expect(await expectWholeTrio(engine, project, label, volume)).toBe(whole);
    await removeGroup(engine, project);
    return true;
  }

  inTurn.each(["finish", "undo"] as const)(
    "at every write of an update that ends in %s leaves the whole group old or new",
    async (ending) => {
      const points = pointsOf(mode, { sparser: 2 });
      let isOver = false;
      let last = 0;
      const work = async () => {
        // They take turns at one list.
        for (const write of points) {
          if (isOver) return;
          last = Math.max(last, write);
          for (const [round, when] of repeated(["before", "after"] as const).entries()) {
            if (!(await tryAt(write, when, ending, round))) isOver = true;
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      expect(last).toBeGreaterThan(30);
    },
    3_600_000,
  );
});

/** Podman has no live-restore: its containers outlive its service in any case. */
function enginesFor(liveRestore: boolean): readonly EngineMode[] {
  if (isWholeMatrix) return allEngineModes.filter((mode) => !liveRestore || !isPodman(mode));
  return liveRestore ? ["docker-20"] : ["docker-20", "docker-29-containerd", "podman"];
}

for (const liveRestore of [false, true]) {
  const title = `kill -9 of the engine in the middle of a group, live-restore ${liveRestore ? "on" : "off"}`;
  const modes = enginesFor(liveRestore);
  engineSuite(
    title,
    (mode) => {
      let engine: TestEngine;
      beforeAll(async () => {
        engine = await startEngine({ mode, liveRestore });
        await importImages(engine);
      }, 120_000);
      afterAll(() => engine.stop(), 60_000);

      test("after the writes of an update leaves the whole group old or new", async () => {
        let last = 0;
        // An engine takes seconds to come up again.
        for (const write of pointsOf(mode, { sparser: 2 })) {
          for (const round of repeated([0]).keys()) {
            const project = `e${liveRestore ? "live" : "dead"}${write}r${round}`;
            await runTrio(engine, project);
            const volume = await trioVolume(engine, project);
            const journal = memoryJournal();
            // As a run has it: Docker 20.10 with live-restore may never start again what it was stopping.
            const snapshot = await capture(project);
            let wasKilled = false;
            journal.afterWrite(write, async () => {
              wasKilled = true;
              await engine.kill();
            });
            const failure = await update(project, journal).catch((error: unknown) => error);
            if (!wasKilled) {
              expect([write, failure]).toEqual([write, undefined]);
              await removeGroup(engine, project);
              expect(last).toBeGreaterThan(20);
              return;
            }
            last = write;
            await engine.restart();
            await startUntouched(project, journal);
            const recovery = await recover(engine, mode, project, journal.reopened(), snapshot);
            const label = `${project}: ${journal.written().at(-1)} -> ${recovery.state}`;
            await expectWholeTrio(engine, project, label, volume);
            await removeGroup(engine, project);
          }
        }
      }, 3_600_000);

      /** Docker tries once to start what shares a network, and gives it up when it comes before the owner. That is not the run's. */
      async function startUntouched(project: string, journal: MemoryJournal): Promise<void> {
        const touched = new Set(journal.entries().map(({ facts }) => facts.container));
        for (const service of ["a", "b", "c"]) {
          const name = `${project}-${service}-1`;
          if (!touched.has(name)) await engine.call("POST", `/containers/${name}/start`);
        }
      }

      async function capture(project: string): Promise<string | null> {
        await using session = await openSession(engine.address, { kind: kindOf(mode) });
        return (await session.snapshots?.capture(group(project))) ?? null;
      }

      async function update(project: string, journal: MemoryJournal): Promise<void> {
        await using session = await openSession(engine.address, { kind: kindOf(mode) });
        await updateGroup(session, project, wholeTrio, journal);
        await session.finish(group(project), journal);
      }
    },
    modes,
  );
}
