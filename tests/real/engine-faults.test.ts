import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../src/errors.ts";
import type { Journal } from "../../src/runtimes/journal.ts";
import { type RuntimeSession, stabilityMs } from "../../src/runtimes/session.ts";
import { startEngine, type TestEngine } from "../peers/engine.ts";
import { isPodman, kindOf, matrixSuite, pointsOf, repeated } from "../support/engine-modes.ts";
import { type EngineProxy, type Fault, faults, startEngineProxy } from "../support/engine-proxy.ts";
import { memoryJournal } from "../support/memory-journal.ts";
import { prepared } from "../support/prepared.ts";
import {
  changeTo,
  containersNamed,
  downAfterUpdate,
  images,
  importImages,
  openSession,
  removeContainers,
  runContainer,
  target,
} from "../support/update-target.ts";

// Each is over in a second; a machine that builds something beside them needs longer.
setDefaultTimeout(60_000);

// A read that hangs is as good as one that is reset; the waiting is saved for the calls that change something.
const readFaults: readonly Fault[] = ["500", "html_403", "truncated_after"];
const deadlines = { readMs: 2_000, changeMs: 2_000, pullIdleMs: 5_000 };

matrixSuite("an engine that fails at the nth call", (mode, inTurn) => {
  const kind = kindOf(mode);
  const folder = mkdtempSync(join(tmpdir(), "tidemark-faults-"));
  let engine: TestEngine;
  let proxy: EngineProxy;
  beforeAll(async () => {
    engine = await startEngine({ mode });
    await importImages(engine);
    proxy = await startEngineProxy(engine.socket, join(folder, "proxy.sock"));
  }, 120_000);
  afterAll(async () => {
    await proxy.stop();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** Ready to update what runs, or to roll back what is down. */
  async function preparedFor(session: RuntimeSession, name: string, image: string, journal: Journal) {
    const ref = target(name);
    if (image !== images.old) {
      await runContainer(engine, name);
      return await prepared(session, await session.plan(ref, [changeTo(image)]), journal);
    }
    const snapshot = await downAfterUpdate(engine, name, {});
    const { snapshots } = session;
    if (snapshots === undefined) throw new Error("An engine has snapshots");
    return await snapshots.prepareRestore(await snapshots.planRestore(ref, snapshot), snapshot, [], journal);
  }

  /** Update, or roll back to the old image, then finish or put back, with the nth call broken. Answers the calls from `apply` on. */
  async function updateBroken(name: string, image: string, n: number, fault: Fault): Promise<readonly string[]> {
    const ref = target(name);
    const journal = memoryJournal();
    await using session = await openSession(`unix://${proxy.socket}`, { kind, deadlines });
    const ready = await preparedFor(session, name, image, journal);
    proxy.breakCall(n, fault);
    try {
      await ready.apply();
      if (image === images.exits) throw new Error("Its health check failed");
      await session.finish(ref, journal);
    } catch {
      // The caller's part: whatever happened, put back; and should that fail too, look again later.
      const isCommitted = journal.written().includes("remove_old begin");
      if (isCommitted) await session.finish(ref, journal);
      else await session.undo(ref, journal, null).catch(() => session.recover(ref, journal, null));
    }
    const calls = proxy.calls();
    // A run that looked less often than the first one leaves its fault to nobody.
    proxy.breakCall(0, "500");
    return calls;
  }

  inTurn.each(
    repeated([
      { path: "an update", prefix: "forward", image: images.next, isDown: false, sparser: 1 },
      { path: "an update that is put back", prefix: "back", image: images.exits, isDown: false, sparser: 2 },
      { path: "a rollback of what is down", prefix: "restore", image: images.old, isDown: true, sparser: 2 },
    ]),
  )(
    "leaves one and nothing else, running unless it was down before, in $path",
    async ({ prefix, image, isDown, sparser }) => {
      const whole = [...(await updateBroken(`${prefix}-0`, image, 0, "500"))];
      await removeContainers(engine, `${prefix}-0`);
      expect(whole.filter((call) => !call.startsWith("GET")).length).toBeGreaterThan(4);
      for (const n of pointsOf(mode, { last: whole.length, sparser })) {
        const label = whole[n - 1] ?? "";
        for (const fault of label.startsWith("GET") ? readFaults : faults) {
          const name = `${prefix}-${n}-${fault.replaceAll("_", "-")}`;
          await updateBroken(name, image, n, fault);
          const found = await containersNamed(engine, name);
          const what = `call ${n} (${label}) ${fault}`;
          const isPutBack = isDown && found[0]?.image === images.next;
          const state = isPutBack ? "exited" : "running";
          expect([what, ...found.map((each) => `${each.name} ${each.state}`)]).toEqual([what, `${name} ${state}`]);
          await removeContainers(engine, name);
        }
      }
      // No fault is left over for the next test.
      proxy.breakCall(0, "500");
    },
    900_000,
  );

  test("needs no more of a socket proxy than the documented verbs", async () => {
    const allowed = [
      /^GET \/(version|images\/json|containers\/json|(libpod\/)?containers\/[^/]+\/json|(libpod\/)?images\/.+\/json)$/,
      /^POST \/(libpod\/)?containers\/(create|[^/]+\/(start|stop|rename|update))$/,
      /^POST \/images\/.+\/tag$/,
      /^DELETE \/containers\/[^/]+$/,
    ];
    proxy.breakCall(0, "500");
    const ref = target("minimal");
    await runContainer(engine, ref.id);
    const journal = memoryJournal();
    await using session = await openSession(`unix://${proxy.socket}`, { kind });
    await session.describe();
    await session.discover();
    await session.snapshots?.capture(ref);
    const plan = await session.plan(ref, [changeTo(images.next)]);
    proxy.forbid(/^POST \/(networks|volumes)|^(GET|POST) \/(info|events|exec|build|commit|swarm|secrets)/);
    await (await session.prepare(plan, [], journal)).apply();
    await session.readiness(ref, stabilityMs, journal);
    await session.findEnd(ref, journal);
    await session.undo(ref, journal, null);
    await session.finish(ref, journal);
    proxy.forbid(null);
    const others = proxy.calls().filter((call) => !allowed.some((pattern) => pattern.test(call)));
    // The pull is not among them: the images of this suite lie in no registry.
    expect(others).toEqual([]);
    await removeContainers(engine, ref.id);
  });

  test("is refused before anything happens when a socket proxy lets a verb not through", async () => {
    const name = "verbs";
    const id = await runContainer(engine, name);
    const ref = target(name);
    await using session = await openSession(`unix://${proxy.socket}`, { kind });
    const plan = await session.plan(ref, [changeTo(images.next)]);
    for (const verb of ["rename", "stop", "start", ...(isPodman(mode) ? [] : ["update"]), "create"]) {
      const journal = memoryJournal();
      proxy.forbid(new RegExp(`^POST /(libpod/)?containers/.*${verb}$`));
      const refusal = await session.prepare(plan, [], journal).catch(errorMessage);
      expect(refusal).toContain(`${verb} (403)`);
      expect(journal.written()).toEqual([]);
    }
    proxy.forbid(null);
    expect((await session.inspect(ref)).services[0]?.state).toBe("running");
    expect(await engine.call("GET", `/containers/${name}/json`)).toMatchObject({ Id: id });
    await removeContainers(engine, name);
  });
});
