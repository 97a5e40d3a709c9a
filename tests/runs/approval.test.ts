import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import { audit_entries, run_steps } from "../../src/db/tables.ts";
import { AppError } from "../../src/errors.ts";
import { say } from "../../src/messages/message.ts";
import { english } from "../support/english.ts";
import { createWorld, digest, release, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const actor = { name: "admin", address: "192.0.2.1", request_id: "r1" };

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const web = () => world.engine.get("web");
const only = async (executor: string) => {
  const [run, ...others] = await world.runsOf(executor);
  if (run === undefined || others.length > 0) throw new Error(`Expected one run, found ${others.length + 1}`);
  return run;
};
const asking = (changes: Record<string, unknown> = {}) =>
  world.addExecutor({ trigger: "immediate", requires_approval: true, approval_hours: 2, ...changes });
/** An executor whose run waits for consent. */
const awaiting = async (changes: Record<string, unknown> = {}) => {
  const executor = await asking(changes);
  await world.tick();
  await world.tick();
  const run = await only(executor);
  if (run.approval !== "awaiting" || run.plan_hash === null)
    throw new Error(`It does not wait: ${english(run.reason)}`);
  return { executor, id: run.id, hash: run.plan_hash, until: run.approval_until ?? 0 };
};
const decide = (id: string, plan_hash: string, decision: "approve" | "refuse" = "approve", at = world.main) =>
  at.runs.decide(actor, id, { plan_hash, decision });
const codeOf = async (attempt: Promise<unknown>): Promise<string> => {
  try {
    await attempt;
    return "ok";
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `${error.status} ${error.code}`;
  }
};
const audited = async () =>
  (await world.db.read.select().from(audit_entries).orderBy(asc(audit_entries.id)))
    .filter((entry) => entry.event.startsWith("run_"))
    .map((entry) => [entry.event, entry.actor]);
const later = async (ms: number) => {
  await world.clock.advance(ms);
  await world.tick();
  await world.tick();
};

describe("a run that needs approval", () => {
  test("makes its plan, stops before anything is touched, and asks once", async () => {
    const { executor, id, until } = await awaiting();
    const run = await world.run(id);
    expect(run).toMatchObject({ state: "pending", approval: "awaiting", lease_owner: null, due_at: until });
    expect(run).toMatchObject({ from_tag: "1.0", to_tag: "1.1", to_digest: digest("b"), reason: null });
    expect(until).toBe(world.clock.now() + 2 * hourMs);
    expect(world.engine.calls).toEqual([]);
    await later(20 * minuteMs);
    const events = await world.events();
    expect(events).toMatchObject([{ kind: "executor_run_awaiting_approval", run_id: null, executor_id: executor }]);
    expect(events[0]?.facts).toEqual({
      executor: "web",
      run: id,
      kind: "update",
      from: { tag: "1.0", digest: digest("a") },
      to: { tag: "1.1", digest: digest("b") },
      target: "web",
      plan_hash: run.plan_hash,
      approval_until: until,
    });
    expect((await only(executor)).id).toBe(id);
  });

  test("is shown as waiting with the time until which it does", async () => {
    const { executor, id, until } = await awaiting();
    const view = await world.main.executors.get(executor);
    expect(view).toMatchObject({ state: "waiting", waiting: { reason: "approval", until }, active_run_id: id });
    expect(await world.main.runs.get(id)).toMatchObject({ approval: "awaiting", approval_until: until });
  });

  test("goes on when it is approved, to its end, with an event of its own for that", async () => {
    const { id, hash } = await awaiting();
    world.clock.set(world.clock.now() + hourMs);
    await decide(id, hash);
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "succeeded", approval: "approved", expected_plan_hash: hash });
    expect(web()).toMatchObject({ image: "registry.test/app:1.1", running: true });
    expect((await world.events()).map(({ kind, run_id }) => [kind, run_id])).toEqual([
      ["executor_run_awaiting_approval", null],
      ["executor_run_succeeded", id],
    ]);
    expect(await audited()).toEqual([["run_approved", "admin"]]);
    const steps = await world.steps(id);
    expect(steps.slice(0, 6)).toEqual([
      "queue finish",
      "claim begin",
      "claim finish",
      "approval begin",
      "approval finish",
      "claim begin",
    ]);
  });

  test("is measured from when it goes on, not from when it asked", async () => {
    const { id, hash } = await awaiting();
    world.clock.set(world.clock.now() + hourMs);
    await decide(id, hash);
    await world.tick();
    const { started_at, ended_at } = await world.run(id);
    expect((ended_at ?? 0) - (started_at ?? 0)).toBeLessThan(minuteMs);
  });

  test("ends when it is refused, and its version is not asked about again", async () => {
    const { executor, id, hash } = await awaiting();
    await decide(id, hash, "refuse");
    expect(await world.run(id)).toMatchObject({
      state: "skipped",
      reason_code: "not_approved",
      approval: null,
      lease_owner: null,
    });
    await later(20 * minuteMs);
    await only(executor);
    expect(world.engine.calls).toEqual([]);
    expect(await audited()).toEqual([["run_refused", "admin"]]);
    expect((await world.events()).map((event) => event.kind)).toEqual([
      "executor_run_awaiting_approval",
      "executor_run_skipped",
    ]);
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await later(20 * minuteMs);
    expect((await world.runsOf(executor)).map((run) => run.approval)).toEqual([null, "awaiting"]);
  });

  test("ends when nobody decides in time, and says so once", async () => {
    const { executor, id, hash, until } = await awaiting();
    await world.clock.advance(until - 1 - world.clock.now());
    await world.tick();
    expect((await world.run(id)).state).toBe("pending");
    await later(1);
    expect(await world.run(id)).toMatchObject({ state: "skipped", reason_code: "not_approved" });
    expect(await codeOf(decide(id, hash))).toBe("409 not_awaiting");
    await later(hourMs);
    await only(executor);
    expect(await audited()).toEqual([["run_approval_expired", "system"]]);
  });

  test("can be started by hand without asking: that is consent, and what waited makes room", async () => {
    const { executor, id } = await awaiting();
    const manual = await world.update(executor);
    expect(manual).toMatchObject({ state: "succeeded", approval: null });
    expect(await world.run(id)).toMatchObject({
      state: "skipped",
      reason_code: "not_approved",
      reason: say("runs.replaced_by_manual"),
    });
    await later(20 * minuteMs);
    expect(await world.runsOf(executor)).toHaveLength(2);
  });

  test("of a rollback or by hand does not ask", async () => {
    const executor = await asking();
    expect(await world.update(executor)).toMatchObject({ state: "succeeded" });
  });

  test("goes on by itself once its executor does not ask any more", async () => {
    const { executor, id } = await awaiting();
    await world.main.executors.update(systemActor, executor, { requires_approval: false });
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "succeeded", approval: null });
  });

  test("ends when its executor is updated by hand from then on", async () => {
    const { executor, id } = await awaiting();
    await world.main.executors.update(systemActor, executor, { trigger: "manual" });
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "skipped", reason_code: "not_approved" });
    await only(executor);
  });
});

describe("a plan that is not the one that was asked about", () => {
  test("of a newer version takes the place of the old question", async () => {
    const { executor, id } = await awaiting();
    world.upstream.choice = { release: release("1.2", "c"), ready_at: null };
    await later(20 * minuteMs);
    const runs = await world.runsOf(executor);
    expect(runs.map(({ state, approval, to_tag }) => [state, approval, to_tag])).toEqual([
      ["skipped", null, "1.1"],
      ["pending", "awaiting", "1.2"],
    ]);
    expect(await world.run(id)).toMatchObject({ reason: say("runs.other_version") });
  });

  test("of a target that somebody changed is asked about anew, and the old consent is of no use", async () => {
    const { executor, id, hash } = await awaiting();
    world.engine.containers.delete("web");
    world.engine.add("web", "registry.test/app:0.9", digest("d"));
    await later(20 * minuteMs);
    const [old, asked] = await world.runsOf(executor);
    expect(old).toMatchObject({ id, state: "skipped", reason_code: "not_approved" });
    expect(asked).toMatchObject({ approval: "awaiting", from_tag: "0.9", attempt: 1 });
    expect(asked?.plan_hash).not.toBe(hash);
    expect(await codeOf(decide(id, hash))).toBe("409 not_awaiting");
    await decide(asked?.id ?? "", asked?.plan_hash ?? "");
    await world.tick();
    expect(web()).toMatchObject({ image: "registry.test/app:1.1", running: true });
  });

  test("of a target that already is as desired ends the question without another", async () => {
    const { executor, id } = await awaiting();
    world.engine.containers.delete("web");
    world.engine.add("web", "registry.test/app:1.1", digest("b"));
    await later(20 * minuteMs);
    expect(await world.run(id)).toMatchObject({ state: "skipped", reason_code: "not_approved" });
    await only(executor);
  });

  test("that changed between the consent and the start is refused, and then asked about", async () => {
    const { executor, id, hash } = await awaiting();
    await decide(id, hash);
    world.engine.containers.delete("web");
    world.engine.add("web", "registry.test/app:0.9", digest("d"));
    await world.clock.runUntil(world.main.runs.work.perform({ id }, live));
    expect(await world.run(id)).toMatchObject({ state: "failed", reason_code: "target_changed" });
    expect(web()).toMatchObject({ image: "registry.test/app:0.9", running: true });
    await world.tick();
    await world.tick();
    expect((await world.runsOf(executor)).map(({ state, approval }) => [state, approval])).toEqual([
      ["failed", "approved"],
      ["pending", "awaiting"],
    ]);
  });

  test("stays the one that was asked about while its runtime does not answer", async () => {
    const { id } = await awaiting();
    world.engine.isUnreachable = true;
    await later(20 * minuteMs);
    expect(await world.run(id)).toMatchObject({ state: "pending", approval: "awaiting" });
  });
});

describe("consent", () => {
  test("for another plan is refused with the hash of the present one", async () => {
    const { id, hash } = await awaiting();
    const attempt = decide(id, "0".repeat(64));
    expect(await codeOf(attempt)).toBe("409 plan_changed");
    await attempt.catch((error: AppError) => expect(error.fields).toEqual({ plan_hash: hash }));
    expect(await world.run(id)).toMatchObject({ approval: "awaiting" });
  });

  test.each([
    ["two approvals", "approve", "approve"],
    ["an approval and a refusal", "approve", "refuse"],
    ["a refusal and an approval", "refuse", "approve"],
    ["two refusals", "refuse", "refuse"],
  ] as const)("%s at once have one effect", async (_name, first, second) => {
    const { id, hash } = await awaiting();
    const other = world.instance({ id: "other" });
    const codes = await Promise.all([codeOf(decide(id, hash, first)), codeOf(decide(id, hash, second, other))]);
    expect(codes.toSorted()).toEqual(["409 not_awaiting", "ok"]);
    expect(await audited()).toHaveLength(1);
    const rows = await world.db.read.select().from(run_steps);
    expect(rows.filter((row) => row.step === "approval" && row.phase !== "begin")).toHaveLength(1);
  });

  test("after the time is over, before anybody noticed, is refused", async () => {
    const { id, hash, until } = await awaiting();
    world.clock.set(until);
    expect(await codeOf(decide(id, hash))).toBe("409 approval_expired");
    expect(await codeOf(decide(id, hash, "refuse"))).toBe("409 approval_expired");
  });

  test("to a run that never asked is refused", async () => {
    const executor = await world.addExecutor();
    const run = await world.update(executor);
    expect(await codeOf(decide(run.id, run.plan_hash ?? ""))).toBe("409 not_awaiting");
    expect(await codeOf(decide("none", "0".repeat(64)))).toBe("404 not_found");
  });

  test.each([
    ["no plan", {}],
    ["no hash", { plan_hash: "abc" }],
    ["another word", { plan_hash: "0".repeat(64), decision: "maybe" }],
    ["a further field", { plan_hash: "0".repeat(64), force: true }],
  ])("with %s is no input", async (_name, input) => {
    const { id } = await awaiting();
    expect(await codeOf(world.main.runs.decide(actor, id, input))).toBe("422 invalid_input");
  });
});

describe("a waiting run", () => {
  test("keeps nobody else on its connection from running", async () => {
    world.engine.add("api", "registry.test/app:1.0", digest("a"));
    const { id } = await awaiting();
    const other = await world.addExecutor({ name: "api", target: { kind: "container", id: "api" } });
    expect(await world.update(other)).toMatchObject({ state: "succeeded" });
    expect(await world.run(id)).toMatchObject({ approval: "awaiting" });
  });

  test("survives the end of its process", async () => {
    const { id, hash } = await awaiting();
    const next = world.instance({ id: "next" });
    await next.runs.takeOver();
    await world.tick(next);
    expect(await world.run(id)).toMatchObject({ state: "pending", approval: "awaiting" });
    await decide(id, hash, "approve", next);
    await world.tick(next);
    expect(await world.run(id)).toMatchObject({ state: "succeeded" });
  });

  test("of a process that died while it made the plan is asked about by the next", async () => {
    const executor = await asking();
    await world.tick();
    // Claimed by a process that is gone: its lease runs out.
    const dying = world.instance({ id: "dying", gate: () => new Promise(() => undefined) });
    void dying.runs.work.perform({ id: (await only(executor)).id }, live);
    await later(31_000);
    expect(await only(executor)).toMatchObject({ approval: "awaiting" });
    expect(await world.events()).toHaveLength(1);
  });
});

describe("in a maintenance window", () => {
  // The fake clock stands at a moment of its own: the window is made around it.
  const window = () => {
    const at = (ms: number) => new Date(world.clock.now() + ms).toISOString().slice(11, 16);
    const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    return { days, start: at(-hourMs), end: at(hourMs) };
  };

  test("consent may come when it is closed; the run then waits for the next opening without a failure", async () => {
    const { executor, id, hash } = await awaiting({ trigger: "window", window: window(), approval_hours: 10 });
    const opened = world.clock.now();
    await later(3 * hourMs);
    await decide(id, hash);
    await world.tick();
    const waiting = await world.run(id);
    expect(waiting).toMatchObject({ state: "pending", approval: "approved", reason_code: "waiting_for_window" });
    expect(waiting.due_at).toBe(Math.floor((opened + 23 * hourMs) / minuteMs) * minuteMs);
    expect(await world.main.executors.get(executor)).toMatchObject({
      state: "waiting",
      waiting: { reason: "window", until: waiting.due_at },
    });
    expect(world.engine.calls).toEqual([]);
    for (let hours = 0; hours < 12; hours += 1) await later(hourMs);
    expect(await world.run(id)).toMatchObject({ state: "pending", approval: "approved" });
    world.clock.set(waiting.due_at);
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "succeeded" });
    expect((await world.events()).filter((event) => event.run_id === id)).toHaveLength(1);
  });

  test("an executor that got a window while its run was asked about heeds that window", async () => {
    const { executor, id, hash } = await awaiting();
    const at = (ms: number) => new Date(world.clock.now() + ms).toISOString().slice(11, 16);
    const closed = { ...window(), start: at(2 * hourMs), end: at(3 * hourMs) };
    await world.main.executors.update(systemActor, executor, { trigger: "window", window: closed });
    await decide(id, hash);
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "pending", reason_code: "waiting_for_window" });
    expect(world.engine.calls.filter((call) => call.startsWith("stop"))).toEqual([]);
  });

  test("a window that is moved moves what waits for it", async () => {
    const { executor, id, hash } = await awaiting({ trigger: "window", window: window(), approval_hours: 10 });
    await later(3 * hourMs);
    await decide(id, hash);
    await world.tick();
    await world.main.executors.update(systemActor, executor, { window: window() });
    await world.tick();
    expect(await world.run(id)).toMatchObject({ state: "succeeded" });
  });
});
