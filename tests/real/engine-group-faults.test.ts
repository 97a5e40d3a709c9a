import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../src/errors.ts";
import type { Journal } from "../../src/runtimes/journal.ts";
import type { Recovery, RuntimeSession } from "../../src/runtimes/session.ts";
import { type EngineMode, startEngine, type TestEngine } from "../peers/engine.ts";
import { isWholeMatrix, kindOf, matrixSuite, pointsOf, repeated } from "../support/engine-modes.ts";
import { type EngineProxy, type Fault, faults, startEngineProxy } from "../support/engine-proxy.ts";
import { changes, group, groupImages, removeGroup } from "../support/group-target.ts";
import { expectWholeTrio, runTrio, trioVolume, wholeTrio } from "../support/group-trio.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { apply, prepared } from "../support/prepared.ts";
import { importImages, openSession } from "../support/update-target.ts";

/** Cases that go on at once, each before a proxy of its own: most of their time they wait. */
const atOnce = 8;
const limit = 3_600_000;
/** A change that hangs costs this much; a busy machine needs less for one that does not, and no read hangs here. */
const deadlines = { readMs: 20_000, changeMs: 10_000, pullIdleMs: 10_000 };
// A read that hangs is as good as one that is reset; the waiting is saved for the calls that change something.
const readFaults: readonly Fault[] = ["500", "html_403", "truncated_after"];

/** Where a run leads: to new ones that are kept, to new ones that are put back, or from new ones to those of the snapshot. */
const paths = ["update", "back", "rollback"] as const;
type Path = (typeof paths)[number];

interface Case {
  path: Path;
  /** The call that breaks, from 1; 0 for none. */
  n: number;
  fault: Fault;
  call: string;
}

/** Every thirty-fifth call with some of the faults, on each mode others; `TIDEMARK_REPEATS=1` takes all. */
function casesOf(mode: EngineMode, path: Path, calls: readonly string[]): readonly Case[] {
  const points = [...pointsOf(mode, { last: calls.length, sparser: 5 })];
  return repeated(points).flatMap((n, place) => {
    const call = calls[n - 1] ?? "";
    const all = call.startsWith("GET") ? readFaults : faults;
    const chosen = isWholeMatrix ? all : all.filter((_, index) => (place + index) % 3 === 0);
    return chosen.map((fault): Case => ({ path, n, fault, call }));
  });
}

matrixSuite("an engine that fails at the nth call of a group", (mode, inTurn) => {
  const kind = kindOf(mode);
  const folder = mkdtempSync(join(tmpdir(), "tidemark-group-faults-"));
  const proxies: EngineProxy[] = [];
  let engine: TestEngine;
  let made = 0;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    for (let place = 0; place < atOnce; place += 1) {
      proxies.push(await startEngineProxy(engine.socket, join(folder, `${place}.sock`)));
    }
  }, 180_000);
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop();
    await engine?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  /** Makes the group and answers what leads away from it, up to the first call that can break. */
  async function preparedFor(path: Path, project: string, session: RuntimeSession, journal: Journal) {
    const ref = group(project);
    await runTrio(engine, project);
    if (path !== "rollback") {
      const to = path === "back" ? { ...wholeTrio, c: groupImages.broken } : wholeTrio;
      return await prepared(session, await session.plan(ref, changes(to)), journal);
    }
    const { snapshots } = session;
    if (snapshots === undefined) throw new Error("An engine has snapshots");
    const snapshot = await snapshots.capture(ref);
    const forth = memoryJournal();
    await apply(session, await session.plan(ref, changes(wholeTrio)), forth);
    await session.finish(ref, forth);
    const plan = await snapshots.planRestore(ref, snapshot);
    return await snapshots.prepareRestore(plan, snapshot, [], journal);
  }

  /** As a run does it: whatever happens is put back, and looked at again later should that fail too. */
  async function perform(
    session: RuntimeSession,
    path: Path,
    project: string,
    journal: Journal,
    begin: () => Promise<void>,
  ) {
    const ref = group(project);
    const ready = await preparedFor(path, project, session, journal);
    await begin();
    let end: Recovery["state"] = "started";
    try {
      await ready.apply();
      if (path === "back") throw new Error("Its health check failed");
      await journal.begin("commit");
      await journal.finish("commit");
    } catch {
      const back = () => session.undo(ref, journal, null);
      end = (await back().catch(() => session.recover(ref, journal, null))).state;
    }
    if (end === "started") await session.finish(ref, journal).catch(() => session.finish(ref, journal));
    return end;
  }

  /** Answers the calls from `apply` on. Throws when the group is not whole, or not what the run takes it for. */
  async function tryCase(proxy: EngineProxy, { path, n, fault, call }: Case): Promise<readonly string[]> {
    made += 1;
    const project = `${path}${n}x${made}`;
    const label = `${path}, call ${n} (${call}) ${fault}`;
    await using session = await openSession(`unix://${proxy.socket}`, { kind, deadlines });
    let volume = "";
    const journal = memoryJournal();
    try {
      const end = await perform(session, path, project, journal, async () => {
        volume = await trioVolume(engine, project);
        proxy.breakCall(n, fault);
      });
      const whole = await expectWholeTrio(engine, project, `${label}: ${end}`, volume);
      const [before, after] = path === "rollback" ? (["new", "old"] as const) : (["old", "new"] as const);
      expect([label, end, whole]).toEqual([label, end, end === "untouched" ? before : after]);
      if (n === 0) expect(end).toBe(path === "back" ? "untouched" : "started");
      // A run that looks less often, because something had ended sooner, may have no such call any more.
      else if (proxy.calls().length >= n) expect([label, proxy.wasBroken()]).toEqual([label, true]);
      return proxy.calls();
    } catch (error) {
      throw new Error(`${label}: ${errorMessage(error)}\n${journal.written().join(", ")}`, { cause: error });
    } finally {
      proxy.breakCall(0, "500");
      await removeGroup(engine, project);
    }
  }

  async function tryAll(cases: readonly Case[]): Promise<readonly string[]> {
    const left = [...cases];
    const failures: string[] = [];
    const work = async (proxy: EngineProxy) => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        await tryCase(proxy, next).catch((error: unknown) => failures.push(errorMessage(error)));
      }
    };
    await Promise.all(proxies.map(work));
    return failures;
  }

  inTurn.each(paths)(
    "leaves all of them running, old or new, and nothing else, in %s",
    async (path) => {
      const [proxy] = proxies;
      if (proxy === undefined) throw new Error("There is no proxy");
      const calls = await tryCase(proxy, { path, n: 0, fault: "500", call: "none" });
      expect(calls.filter((call) => !call.startsWith("GET")).length).toBeGreaterThan(15);
      const cases = casesOf(mode, path, calls);
      expect(await tryAll(cases)).toEqual([]);
      const changing = calls.filter((call) => !call.startsWith("GET")).length;
      console.log(
        `${mode} ${path}: ${calls.length} calls, ${changing} of them change something; ${cases.length} cases`,
      );
    },
    limit,
  );
});
