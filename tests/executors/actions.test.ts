import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { toIso } from "../../src/clock.ts";
import { audit_entries } from "../../src/db/tables.ts";
import { plain } from "../../src/messages/message.ts";
import { createWorld, digest, makeDue, release, type World } from "../support/run-world.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const live = new AbortController().signal;
const main = `main ${digest("b")}`;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const act = (id: string, action: Record<string, unknown>) => world.main.executors.act(systemActor, id, action);
const view = (id: string) => world.main.executors.get(id);
const evaluate = async (id: string) => {
  await makeDue(world, id);
  await world.clock.runUntil(world.main.evaluator.perform({ id }, live));
};
/** An executor that is seen to have an update and does not make it yet. */
const behind = async (changes: Record<string, unknown> = {}) => {
  const id = await world.addExecutor(changes);
  await evaluate(id);
  return id;
};
const ticks = async (count: number, apart = 20 * minute) => {
  for (let time = 0; time < count; time++) {
    await world.tick();
    await world.clock.advance(apart);
  }
  await world.tick();
};
const outcomes = async (id: string) => (await world.runsOf(id)).map((run) => [run.state, run.reason_code]);
const audited = async () =>
  (await world.db.read.select().from(audit_entries).orderBy(asc(audit_entries.id)))
    .filter((entry) => !/_created$/.test(entry.event))
    .map((entry) => [entry.event, entry.detail]);

describe("hold", () => {
  test("keeps automatic runs from starting until updates are resumed", async () => {
    const id = await world.addExecutor({ trigger: "immediate" });
    await act(id, { action: "hold" });
    await ticks(4);
    expect(await world.runsOf(id)).toEqual([]);
    expect(await view(id)).toMatchObject({ state: "held", held_since: expect.any(Number), update_revision: main });
    await act(id, { action: "resume" });
    await world.tick();
    expect(await outcomes(id)).toEqual([["succeeded", null]]);
    expect(await audited()).toEqual([
      ["executor_held", {}],
      ["executor_resumed", {}],
    ]);
  });

  test("lets a manual run through", async () => {
    const id = await behind({ trigger: "immediate" });
    const [queued] = await world.runsOf(id);
    await world.db.client.execute({ sql: "delete from runs where id = ?", args: [queued?.id ?? ""] });
    await act(id, { action: "hold" });
    expect(await world.update(id)).toMatchObject({ state: "succeeded" });
    await evaluate(id);
    expect((await view(id)).state).toBe("held");
  });

  test("ends a run that was queued before, which is queued again afterwards", async () => {
    const id = await behind({ trigger: "immediate" });
    expect(await outcomes(id)).toEqual([["pending", null]]);
    await act(id, { action: "hold" });
    await ticks(3);
    expect(await outcomes(id)).toEqual([["skipped", "on_hold"]]);
    expect(world.engine.calls).toEqual([]);
    await act(id, { action: "resume" });
    await world.tick();
    expect((await outcomes(id)).at(-1)).toEqual(["succeeded", null]);
  });

  test.each([
    ["hold", "on_hold"],
    ["snooze", "snoozed"],
    ["skip", "version_skipped"],
  ])("%s during the pull keeps the target from being touched", async (action, code) => {
    const id = await behind({ trigger: "immediate" });
    const actions = { hold: {}, snooze: { for_hours: 1 }, skip: { revision: main } };
    let isDone = false;
    world.engine.gate = async () => {
      if (isDone || world.engine.calls.length === 0) return;
      isDone = true;
      await act(id, { action, ...Object.entries(actions).find(([name]) => name === action)?.[1] });
    };
    await world.tick();
    expect(isDone).toBe(true);
    expect(await outcomes(id)).toEqual([["skipped", code]]);
    expect(world.engine.calls.map((call) => call.split(" ")[0])).toEqual(["pull"]);
    expect(world.engine.get("web").digest).toBe(digest("a"));
  });

  test("repeated changes nothing and leaves no second entry", async () => {
    const id = await behind();
    const first = await act(id, { action: "hold" });
    expect(first.undo).toEqual({ action: "resume" });
    await world.clock.advance(minute);
    const second = await act(id, { action: "hold" });
    expect(second).toEqual({ view: first.view, undo: null });
    expect(await audited()).toHaveLength(1);
    expect((await act(id, { action: "resume" })).undo).toEqual({ action: "hold" });
    expect((await act(id, { action: "resume" })).undo).toBeNull();
  });

  test("does not hide that the target is down or that its last update failed", async () => {
    world.engine.judge = (each) =>
      each.digest === digest("b")
        ? { ready: false, detail: plain("Exited"), final: true }
        : { ready: true, detail: plain("Runs") };
    const id = await behind();
    expect(await world.update(id)).toMatchObject({ state: "failed", serving: "previous" });
    await act(id, { action: "hold" });
    await evaluate(id);
    expect((await view(id)).state).toBe("failed");
  });
});

describe("a run that awaits approval", () => {
  const asking = { trigger: "immediate", requires_approval: true, approval_hours: 2 };
  const awaiting = async () => {
    const id = await world.addExecutor(asking);
    await world.tick();
    const [run] = await world.runsOf(id);
    if (run?.approval !== "awaiting") throw new Error("It does not wait");
    return { id, run };
  };

  test.each([
    [{ action: "hold" }, "on_hold", { action: "resume" }],
    [{ action: "snooze", for_hours: 1 }, "snoozed", { action: "end_snooze" }],
    [{ action: "skip", revision: main }, "version_skipped", { action: "unskip" }],
  ])("is withdrawn by %o, and asks again afterwards", async (action, code, back) => {
    const { id, run } = await awaiting();
    await act(id, action);
    await world.tick();
    expect(await world.run(run.id)).toMatchObject({ state: "skipped", reason_code: code, approval: null });
    await ticks(2, minute);
    expect(await world.runsOf(id)).toHaveLength(1);
    await act(id, back);
    await world.tick();
    await world.tick();
    expect((await world.runsOf(id)).at(-1)).toMatchObject({ state: "pending", approval: "awaiting" });
  });

  test("is withdrawn although the engine does not respond", async () => {
    const { id, run } = await awaiting();
    world.engine.isUnreachable = true;
    await act(id, { action: "hold" });
    await world.tick();
    expect(await world.run(run.id)).toMatchObject({ state: "skipped", reason_code: "on_hold" });
  });

  test("that has expired is told as that, whatever was decided afterwards", async () => {
    const { id, run } = await awaiting();
    await world.clock.advance(2 * hour);
    await act(id, { action: "hold" });
    await evaluate(id);
    expect(await world.run(run.id)).toMatchObject({ state: "pending", approval: "awaiting" });
    await world.tick();
    expect(await world.run(run.id)).toMatchObject({ state: "skipped", reason_code: "not_approved" });
  });

  test("that was approved before a hold does not start", async () => {
    const { id, run } = await awaiting();
    await world.main.runs.decide(systemActor, run.id, { plan_hash: run.plan_hash });
    await act(id, { action: "hold" });
    await world.clock.runUntil(world.main.runs.work.perform({ id: run.id }, live));
    expect(await world.run(run.id)).toMatchObject({ state: "skipped", reason_code: "on_hold" });
    expect(world.engine.calls).toEqual([]);
  });
});

describe("snooze", () => {
  test("keeps automatic runs from starting until it ends, and is due then", async () => {
    const id = await world.addExecutor({ trigger: "immediate" });
    const until = world.clock.now() + hour;
    await act(id, { action: "snooze", for_hours: 1 });
    await ticks(3, 19 * minute);
    expect(await world.runsOf(id)).toEqual([]);
    expect(await view(id)).toMatchObject({ state: "snoozed", snoozed_until: until });
    const { rows } = await world.db.client.execute("select next_evaluation_at from executors");
    expect(Number(rows[0]?.next_evaluation_at)).toBeLessThanOrEqual(until);
    await world.clock.advance(until - world.clock.now());
    await world.tick();
    expect(await outcomes(id)).toEqual([["succeeded", null]]);
    await world.tick();
    expect(await view(id)).toMatchObject({ state: "current", snoozed_until: null });
  });

  test("lasts by both the clock and counted time, and is looked at once a minute while they disagree", async () => {
    const id = await world.addExecutor({ trigger: "immediate" });
    await act(id, { action: "snooze", for_hours: 24 });
    world.clock.set(world.clock.now() + 2 * day);
    await ticks(3, 1000);
    expect(await world.runsOf(id)).toEqual([]);
    expect((await view(id)).state).toBe("snoozed");
    const { rows } = await world.db.client.execute("select next_evaluation_at from executors");
    const ahead = Number(rows[0]?.next_evaluation_at) - world.clock.now();
    expect(ahead).toBeGreaterThan(minute - 5000);
    expect(ahead).toBeLessThanOrEqual(minute);
  });

  test("set while the clock is behind is not shorter", async () => {
    const id = await world.addExecutor({ trigger: "immediate" });
    const now = world.clock.now();
    world.clock.set(now - day);
    const { view: shown } = await act(id, { action: "snooze", for_hours: 24 });
    expect(shown.snoozed_until).toBeGreaterThanOrEqual(now + day);
  });

  test("takes a time, and its undo brings back the earlier one", async () => {
    const id = await behind();
    const until = world.clock.now() + 3 * day;
    expect(await act(id, { action: "snooze", until: toIso(until) })).toMatchObject({
      view: { snoozed_until: until },
      undo: { action: "end_snooze" },
    });
    expect((await act(id, { action: "snooze", until: toIso(until) })).undo).toBeNull();
    const second = await act(id, { action: "snooze", for_hours: 1 });
    expect(second.undo).toEqual({ action: "snooze", until: toIso(until) });
    expect((await act(id, second.undo ?? {})).view.snoozed_until).toBe(until);
    expect((await act(id, { action: "end_snooze" })).view.snoozed_until).toBeNull();
    expect((await act(id, { action: "end_snooze" })).undo).toBeNull();
  });

  test("never shortens a hold", async () => {
    const id = await world.addExecutor({ trigger: "immediate" });
    await act(id, { action: "hold" });
    await act(id, { action: "snooze", for_hours: 1 });
    expect((await view(id)).state).toBe("unknown");
    await ticks(6);
    expect(await world.runsOf(id)).toEqual([]);
    expect(await view(id)).toMatchObject({ state: "held", held_since: expect.any(Number), snoozed_until: null });
  });

  test.each([
    [{}, "for_hours"],
    [{ for_hours: 1, until: "2030-01-01T00:00:00Z" }, "for_hours"],
    [{ until: "2020-01-01T00:00:00Z" }, "until"],
    [{ until: "2100-01-01T00:00:00Z" }, "until"],
    [{ for_hours: 0 }, "for_hours"],
  ])("refuses %o", async (length, field) => {
    const id = await behind();
    await expect(act(id, { action: "snooze", ...length })).rejects.toMatchObject({
      status: 422,
      field_messages: { [field]: expect.anything() },
    });
  });
});

describe("skip this version", () => {
  test("keeps automatic runs from installing it, and lets the next one through", async () => {
    const id = await world.addExecutor({ trigger: "immediate" });
    await act(id, { action: "hold" });
    await evaluate(id);
    expect(await act(id, { action: "skip", revision: main })).toMatchObject({
      undo: { action: "unskip", revision: main },
      view: { is_version_skipped: true, update_revision: null },
    });
    await act(id, { action: "resume" });
    await ticks(4);
    expect(await world.runsOf(id)).toEqual([]);
    expect(await view(id)).toMatchObject({ state: "skipped", is_version_skipped: true });
    expect((await audited()).find(([event]) => event === "version_skipped")?.[1]).toEqual({ version: "1.1" });
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await makeDue(world, id);
    await world.tick();
    expect(await outcomes(id)).toEqual([["succeeded", null]]);
    await world.tick();
    expect(await view(id)).toMatchObject({ state: "current", is_version_skipped: false });
  });

  test("is only told while there is an update, and outlives a look at which there is none", async () => {
    const id = await behind();
    await act(id, { action: "skip", revision: main });
    world.upstream.choice = { release: release("1.0", "a"), ready_at: null };
    await evaluate(id);
    expect(await view(id)).toMatchObject({ state: "current", is_version_skipped: false });
    world.upstream.choice = { release: release("1.1", "b"), ready_at: null };
    await evaluate(id);
    expect(await view(id)).toMatchObject({ state: "skipped", is_version_skipped: true });
  });

  test.each([
    ["it", "1.1", "b", true],
    ["a newer one", "1.2", "c", true],
    ["an older one", "1.0.5", "d", false],
  ])("ends when %s is installed manually", async (_which, tag, letter, isOver) => {
    const id = await behind({ trigger: "immediate" });
    const [queued] = await world.runsOf(id);
    await world.db.client.execute({ sql: "delete from runs where id = ?", args: [queued?.id ?? ""] });
    await act(id, { action: "skip", revision: main });
    world.upstream.choice = { release: release(tag, letter), ready_at: null };
    expect(await world.update(id)).toMatchObject({ state: "succeeded" });
    await evaluate(id);
    const { rows } = await world.db.client.execute("select skipped_versions from executors");
    expect(JSON.parse(String(rows[0]?.skipped_versions))).toHaveLength(isOver ? 0 : 1);
    // Installed manually and rolled back manually: nothing brings it back.
    if (tag !== "1.1") return;
    world.engine.add("web", "registry.test/app:1.0", digest("a"));
    await ticks(2);
    expect(await world.runsOf(id)).toHaveLength(1);
  });

  test("of a rebuilt name ends with the next build of it", async () => {
    world.engine.add("web", "registry.test/app:latest", digest("a"));
    world.upstream.choice = { release: release("latest", "b"), ready_at: null };
    const id = await behind();
    await act(id, { action: "skip", revision: main });
    await evaluate(id);
    expect((await view(id)).is_version_skipped).toBe(true);
    world.upstream.choice = { release: release("latest", "c"), ready_at: null };
    expect(await world.update(id)).toMatchObject({ state: "succeeded" });
    await evaluate(id);
    const { rows } = await world.db.client.execute("select skipped_versions from executors");
    expect(rows[0]?.skipped_versions).toBe("[]");
  });

  test("is refused once another version was found", async () => {
    const id = await behind();
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await evaluate(id);
    await expect(act(id, { action: "skip", revision: main })).rejects.toMatchObject({
      status: 409,
      code: "other_version",
    });
    expect(await audited()).toEqual([]);
    const shown = (await view(id)).update_revision;
    expect(shown).toBe(`main ${digest("c")}`);
  });

  test("repeated changes nothing; taken back, the version is wanted again", async () => {
    const id = await behind();
    await act(id, { action: "skip", revision: main });
    expect((await act(id, { action: "skip", revision: main })).undo).toBeNull();
    expect(await act(id, { action: "unskip" })).toMatchObject({
      undo: { action: "skip", revision: main },
      view: { is_version_skipped: false, update_revision: main },
    });
    expect((await act(id, { action: "unskip" })).undo).toBeNull();
    expect((await audited()).map(([event]) => event)).toEqual(["version_skipped", "version_unskipped"]);
  });
});

describe("skip one service of a group", () => {
  const web = `web ${digest("b")}`;
  const worker = `worker ${digest("b")}`;
  const bind = (service: string) => ({ service, tracker: "app", source: "main", channel: "stable" });
  const shop = async (changes: Record<string, unknown> = {}) => {
    for (const service of ["web", "worker"])
      world.engine.add(`shop-${service}-1`, "registry.test/app:1.0", digest("a"), { project: "shop", service });
    const id = await world.addExecutor({
      target: { kind: "compose", id: "shop" },
      bindings: [bind("web"), bind("worker")],
      trigger: "immediate",
      ...changes,
    });
    await act(id, { action: "hold" });
    await evaluate(id);
    return id;
  };

  test("leaves it out of automatic runs, and survives the update of the others", async () => {
    const id = await shop();
    expect((await view(id)).update_revision).toBe(`${web}\n${worker}`);
    const { view: shown } = await act(id, { action: "skip", revision: web });
    expect(shown).toMatchObject({ is_version_skipped: false, update_revision: worker });
    await act(id, { action: "resume" });
    await world.tick();
    expect(await outcomes(id)).toEqual([["succeeded", null]]);
    expect(world.engine.get("shop-worker-1").digest).toBe(digest("b"));
    expect(world.engine.get("shop-web-1").digest).toBe(digest("a"));
    await ticks(3);
    expect(await world.runsOf(id)).toHaveLength(1);
    expect(await view(id)).toMatchObject({ state: "skipped", is_version_skipped: true });
    await act(id, { action: "unskip" });
    await world.tick();
    expect(await outcomes(id)).toEqual([
      ["succeeded", null],
      ["succeeded", null],
    ]);
    expect(world.engine.get("shop-web-1").digest).toBe(digest("b"));
  });

  test("does not keep a manual run from taking all of them", async () => {
    const id = await shop();
    await act(id, { action: "skip", revision: web });
    expect(await world.update(id)).toMatchObject({ state: "succeeded" });
    expect(world.engine.get("shop-web-1").digest).toBe(digest("b"));
    expect(world.engine.get("shop-worker-1").digest).toBe(digest("b"));
  });
});

describe("dismiss", () => {
  const failed = async (changes: Record<string, unknown> = {}) => {
    world.engine.judge = (each) =>
      each.digest === digest("b")
        ? { ready: false, detail: plain("Exited"), final: true }
        : { ready: true, detail: plain("Runs") };
    const id = await world.addExecutor(changes);
    const run = await world.update(id);
    expect(run.state).toBe("failed");
    await evaluate(id);
    return { id, run };
  };

  test("calms the executor down until there is something new", async () => {
    const { id, run } = await failed();
    expect(await view(id)).toMatchObject({ state: "failed", dismissible_run_id: run.id });
    expect(await act(id, { action: "dismiss", run_id: run.id })).toMatchObject({
      undo: { action: "undismiss", run_id: run.id },
      view: { state: "dismissed", dismissible_run_id: null },
    });
    expect((await act(id, { action: "dismiss", run_id: run.id })).undo).toBeNull();
    await evaluate(id);
    expect((await view(id)).state).toBe("dismissed");
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await evaluate(id);
    expect((await view(id)).state).toBe("update");
  });

  test("is taken back", async () => {
    const { id, run } = await failed();
    await act(id, { action: "dismiss", run_id: run.id });
    expect((await act(id, { action: "undismiss", run_id: run.id })).view.state).toBe("failed");
    expect((await act(id, { action: "undismiss", run_id: run.id })).undo).toBeNull();
  });

  test("concerns the last settled run, also after a skipped one", async () => {
    const { id, run } = await failed();
    world.engine.refusals = [{ code: "refused", message: plain("Not now") }];
    expect(await world.update(id)).toMatchObject({ state: "skipped" });
    expect((await act(id, { action: "dismiss", run_id: run.id })).undo).not.toBeNull();
  });

  test("is refused for a run that is not the last", async () => {
    const { id, run } = await failed();
    expect(await world.update(id, { plan_hash: "0".repeat(64) })).toMatchObject({ state: "failed" });
    await expect(act(id, { action: "dismiss", run_id: run.id })).rejects.toMatchObject({
      status: 409,
      code: "not_dismissible",
    });
  });

  test("is refused while the new version serves", async () => {
    const { id, run } = await failed({ restore_on_failure: false });
    expect((await view(id)).dismissible_run_id).toBeNull();
    await expect(act(id, { action: "dismiss", run_id: run.id })).rejects.toMatchObject({
      status: 409,
      code: "not_dismissible",
    });
  });
});

test("an action on nothing that exists is refused", async () => {
  await expect(act("nothing", { action: "hold" })).rejects.toMatchObject({ status: 404 });
  const id = await behind();
  await expect(act(id, { action: "pause" })).rejects.toMatchObject({ status: 422 });
});
