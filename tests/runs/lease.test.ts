import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { createLog } from "../../src/log.ts";
import { plain } from "../../src/messages/message.ts";
import { advance } from "../../src/runs/advance.ts";
import { createRunChanges } from "../../src/runs/changes.ts";
import { openJournal } from "../../src/runs/journal.ts";
import { holdRun, LeaseLost } from "../../src/runs/lease.ts";
import { leaseRun } from "../../src/runs/queries.ts";
import { createWorld, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
let world: World;
let runId: string;
beforeEach(async () => {
  world = await createWorld();
  runId = (await world.main.runs.create(systemActor, await world.addExecutor(), {})).id;
});
afterEach(() => world.close());

const quiet = () =>
  createLog({ level: "error", format: "text", clock: world.clock, redact: (t) => t, write: () => undefined });
const lease = async (owner: string) => {
  const { clock, db } = world;
  const now = clock.now();
  const taken = await db.write((tx) => leaseRun(tx, runId, { owner, now, until: now + 30_000 }));
  return taken === null ? null : holdRun({ db, clock, log: quiet(), run_id: runId, owner });
};
const journalOf = (held: NonNullable<Awaited<ReturnType<typeof lease>>>) =>
  openJournal({ ...world, log: quiet(), lease: held, changes: createRunChanges(), redact: (text) => text });

describe("a lease", () => {
  test("keeps others away while it is renewed every ten seconds", async () => {
    const first = await lease("a");
    expect(first).not.toBeNull();
    await world.clock.advance(300_000);
    expect(await lease("b")).toBeNull();
    expect((await world.run(runId)).lease_until).toBe(world.clock.now() + 30_000);
    await first?.stop();
  });

  test("can be taken thirty seconds after its process ended, not earlier", async () => {
    await (await lease("a"))?.stop();
    await world.clock.advance(30_000);
    expect(await lease("b")).toBeNull();
    await world.clock.advance(1);
    const second = await lease("b");
    expect(second).not.toBeNull();
    await second?.stop();
  });

  test("that was taken over stops the work of its former owner", async () => {
    const first = await lease("a");
    await world.db.client.execute("update runs set lease_owner = 'b'");
    await world.clock.advance(10_000);
    expect(first?.signal.aborted).toBe(true);
    expect(first?.signal.reason).toBeInstanceOf(LeaseLost);
    await first?.stop();
  });
});

describe("a stale owner", () => {
  test("writes nothing to the journal", async () => {
    const first = await lease("a");
    if (first === null) throw new Error("Not leased");
    const journal = await journalOf(first);
    await journal.begin("pull");
    await world.db.client.execute("update runs set lease_owner = 'b'");
    const before = await world.steps(runId);
    await expect(journal.finish("pull")).rejects.toBeInstanceOf(LeaseLost);
    await expect(journal.begin("create")).rejects.toBeInstanceOf(LeaseLost);
    expect(await world.steps(runId)).toEqual(before);
    expect(journal.entries().map((entry) => entry.step)).toEqual(["queue", "pull"]);
    await first.stop();
  });

  test("writes nothing even when the storage is allowed to fail", async () => {
    const first = await lease("a");
    if (first === null) throw new Error("Not leased");
    const journal = await journalOf(first);
    journal.tolerateStorageFaults();
    await world.db.client.execute("update runs set lease_owner = 'b'");
    await expect(journal.begin("undo")).rejects.toBeInstanceOf(LeaseLost);
    await first.stop();
  });

  test("moves no state, appends no step and records no event", async () => {
    const first = await lease("a");
    if (first === null) throw new Error("Not leased");
    await world.db.client.execute("update runs set lease_owner = 'b'");
    const deps = {
      clock: world.clock,
      redact: (text: string) => text,
      recordEvent: () => Promise.reject(new Error("An event was recorded")),
    };
    const before = await world.steps(runId);
    const reason = { code: "interrupted", message: plain("Late") } as const;
    const moving = world.db.write((tx) => advance(deps, tx, runId, "pending", "failed", { lease: first, reason }));
    await expect(moving).rejects.toBeInstanceOf(LeaseLost);
    expect((await world.run(runId)).state).toBe("pending");
    expect(await world.steps(runId)).toEqual(before);
    await first.stop();
  });

  test("of a run that another process recovered meanwhile touches nothing more", async () => {
    const stuck = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    let isFirst = true;
    world.engine.gate = async () => {
      if (!isFirst || world.engine.calls.at(-1) !== "stop web") return;
      isFirst = false;
      stuck.resolve();
      await goOn.promise;
    };
    const late = world.main.runs.work.perform({ id: runId }, live);
    await world.clock.runUntil(stuck.promise);
    // The process was asleep: its renewals did not happen, and another one has taken the run.
    await world.db.client.execute("update runs set lease_owner = 'asleep', lease_until = 0");
    const other = world.instance();
    await world.clock.runUntil(other.runs.work.perform({ id: runId }, live));
    expect(await world.run(runId)).toMatchObject({ state: "failed", reason_code: "interrupted" });
    const calls = [...world.engine.calls];
    goOn.resolve();
    await world.clock.runUntil(late);
    expect(world.engine.calls).toEqual(calls);
    expect(world.engine.running()).toEqual(["web"]);
    expect(await world.events()).toHaveLength(1);
  });
});

test("a full disk during the way back keeps nothing from being put right", async () => {
  const first = await lease("a");
  if (first === null) throw new Error("Not leased");
  let isFull = false;
  const { clock, db } = world;
  const journal = await openJournal({
    clock,
    db: { ...db, write: (work) => (isFull ? Promise.reject(new Error("Disk full")) : db.write(work)) },
    log: quiet(),
    lease: first,
    changes: createRunChanges(),
    redact: (text) => text,
  });
  isFull = true;
  await expect(journal.begin("stop")).rejects.toThrow("Disk full");
  journal.tolerateStorageFaults();
  await journal.begin("undo");
  expect(journal.entries().at(-1)).toMatchObject({ step: "undo", phase: "begin" });
  // Once nobody can be sure of the lease any more, nothing goes on.
  await first.stop();
  await clock.advance(30_000);
  await expect(journal.finish("undo")).rejects.toThrow("Disk full");
});
