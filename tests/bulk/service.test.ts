import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { asc, desc } from "drizzle-orm";
import { systemActor } from "../../src/auth/schema.ts";
import type { BulkResult } from "../../src/bulk/schema.ts";
import { bulkService } from "../../src/bulk/service.ts";
import { audit_entries, runs } from "../../src/db/tables.ts";
import { AppError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { plain } from "../../src/messages/message.ts";
import { createWorld, digest, type Instance, makeDue, type World } from "../support/run-world.ts";

const live = new AbortController().signal;
const names = ["web", "db", "cache"] as const;
type Name = (typeof names)[number];

let world: World;
let checked: string[];
let ids: Record<Name, string>;

/** With plans of its own if `plan` is given. */
const create = (plan?: Instance["executors"]["plan"], on = world.main) =>
  bulkService({
    clock: world.clock,
    log: createLog({ level: "error", format: "text", clock: world.clock, redact: String, write: () => undefined }),
    executors:
      plan === undefined
        ? on.executors
        : {
            ...on.executors,
            planTogether: (signal) => ({
              plan: (id) => plan(id, signal),
              [Symbol.asyncDispose]: async () => undefined,
            }),
          },
    runs: on.runs,
    trackers: {
      breakingIn: async () => [],
      requestCheck: async (_actor, tracker) => {
        checked.push(tracker);
        return { tracker, requested_at: 0, sources: [] };
      },
    },
  });
const all = () => names.map((name) => ids[name]);
const within = <T>(work: Promise<T>) => world.clock.runUntil(work);
const perform = (input: unknown, bulk = create()) => within(bulk.perform(systemActor, input));
const review = (of: readonly string[] = all(), bulk = create()) => within(bulk.review("update", of, live));
/** What the question showed, as its answer sends it. */
const seen = async (of: readonly string[] = all()) =>
  (await review(of)).map(({ executor, plan_hash }) => ({
    id: executor.id,
    plan_hash: plan_hash ?? "",
    newest_run_id: executor.newest_run_id,
  }));
const told = (results: readonly BulkResult[]) =>
  results.map(({ name, outcome, problem }) => {
    // It is said beside the name.
    if (problem?.code.startsWith("run_")) expect(problem.message).not.toContain(`"${name}"`);
    return [name, outcome, problem?.code];
  });
const states = async () => {
  const found: Record<string, string[]> = {};
  for (const name of names) found[name] = (await world.runsOf(ids[name])).map(({ state }) => state);
  return found;
};
const work = async () => {
  for (const { id } of await world.main.runs.work.due(world.clock.now(), 100)) {
    await within(world.main.runs.work.perform({ id }, live));
  }
};
const audited = async () =>
  (await world.db.read.select().from(audit_entries).orderBy(asc(audit_entries.id)))
    .filter(({ event }) => !event.endsWith("_created"))
    .map(({ event, subject_name }) => [event, subject_name]);

beforeEach(async () => {
  world = await createWorld();
  checked = [];
  ids = { web: "", db: "", cache: "" };
  for (const name of names) {
    if (name !== "web") world.engine.add(name, "registry.test/app:1.0", digest("a"));
    ids[name] = await world.addExecutor({ name, target: { kind: "container", id: name } });
    await makeDue(world, ids[name]);
    await within(world.main.evaluator.perform({ id: ids[name] }, live));
  }
});
afterEach(() => world.close());

describe("updating several", () => {
  test("starts a run of each plan that was seen, with the entry of each in the audit, planned in one session", async () => {
    const before = world.engine.sessions;
    const reviews = await review();
    expect(reviews.map(({ problem, plan }) => [problem, plan?.plan?.services[0]?.to.reference])).toEqual(
      names.map(() => [null, "registry.test/app:1.1"]),
    );
    expect(world.engine.sessions).toBe(before + 1);
    const { results } = await perform({ action: "update", executors: await seen() });
    expect(told(results)).toEqual(names.map((name) => [name, "done", undefined]));
    expect((await audited()).map(([event, name]) => [event, name])).toEqual(names.map((name) => ["run_started", name]));
    await work();
    expect(await states()).toEqual({ web: ["succeeded"], db: ["succeeded"], cache: ["succeeded"] });
    for (const name of names) expect(world.engine.get(name).digest).toBe(digest("b"));
  });

  test("sent twice, one after the other or at once, starts nothing twice", async () => {
    const executors = await seen();
    const [first, second] = await Promise.all([
      perform({ action: "update", executors }),
      perform({ action: "update", executors }),
    ]);
    const outcomes = names.map((_, place) => [first, second].map(({ results }) => results[place]?.outcome).toSorted());
    expect(outcomes).toEqual(names.map(() => ["done", "refused"]));
    const third = await perform({ action: "update", executors });
    expect(third.results.map(({ outcome, problem, run_id }) => [outcome, problem?.code, run_id])).toEqual(
      await Promise.all(
        names.map(async (name) => ["refused", "run_since", (await world.runsOf(ids[name]))[0]?.id ?? ""]),
      ),
    );
    expect(await states()).toEqual({ web: ["pending"], db: ["pending"], cache: ["pending"] });
  });

  test("sent again after a run failed and was restored, does not start the same plan again", async () => {
    const executors = await seen([ids.web]);
    world.engine.judge = (each) =>
      each.digest === digest("b")
        ? { ready: false, detail: plain("Exited"), final: true }
        : { ready: true, detail: plain("Runs") };
    await perform({ action: "update", executors });
    await work();
    expect((await states()).web).toEqual(["failed"]);
    expect((await seen([ids.web]))[0]?.plan_hash).toBe(executors[0]?.plan_hash ?? "none");
    const { results } = await perform({ action: "update", executors });
    expect(told(results)).toEqual([["web", "refused", "run_since"]]);
    expect((await states()).web).toEqual(["failed"]);
  });

  test("leaves out what cannot take part and does the others all the same", async () => {
    await within(world.main.executors.update(systemActor, ids.db, { is_enabled: false }));
    world.engine.add("cache", "registry.test/app:1.1", digest("b"));
    await within(world.main.executors.act(systemActor, ids.web, { action: "hold" }));
    const reviews = await review();
    expect(reviews.map(({ executor, problem }) => [executor.name, problem?.code])).toEqual([
      ["web", undefined],
      ["db", "executor_disabled"],
      ["cache", "already_current"],
    ]);
    const executors = reviews.map(({ executor, plan_hash }) => ({
      ...{ id: executor.id, newest_run_id: null },
      plan_hash: plan_hash ?? "f".repeat(64),
    }));
    const gone = { id: "gone", newest_run_id: null, plan_hash: "f".repeat(64) };
    const { results } = await perform({ action: "update", executors: [...executors, gone] });
    expect(told(results)).toEqual([
      ["web", "done", undefined],
      ["db", "refused", "executor_disabled"],
      ["cache", "refused", "already_current"],
      ["gone", "refused", "not_found"],
    ]);
    expect(await states()).toEqual({ web: ["pending"], db: [], cache: [] });
  });

  test("does not run a plan that changed since it was seen", async () => {
    const executors = await seen();
    world.engine.add("db", "registry.test/app:1.0", digest("c"));
    const { results } = await perform({ action: "update", executors });
    expect(told(results)).toEqual([
      ["web", "done", undefined],
      ["db", "refused", "plan_changed"],
      ["cache", "done", undefined],
    ]);
    expect((await states()).db).toEqual([]);
  });

  test("a plan that does not come in time is left out, and keeps no other waiting", async () => {
    let isAborted = false;
    const bulk = create(async (id, signal) => {
      if (id !== ids.web) return await world.main.executors.plan(id, signal);
      signal.addEventListener("abort", () => {
        isAborted = true;
      });
      return await new Promise(() => undefined);
    });
    expect((await review(all(), bulk)).map(({ problem }) => problem?.code)).toEqual(["late", undefined, undefined]);
    expect(isAborted).toBe(true);
    const { results } = await perform({ action: "update", executors: await seen() }, bulk);
    expect(told(results)).toEqual([
      ["web", "refused", "late"],
      ["db", "done", undefined],
      ["cache", "done", undefined],
    ]);
    expect((await states()).web).toEqual([]);
  });

  test("an engine that does not answer, and a fault of ours, are told of one and not of the others", async () => {
    const bulk = create(async (id, signal) => {
      if (id === ids.db) throw new Error("A fault");
      return await world.main.executors.plan(id, signal);
    });
    expect((await review(all(), bulk)).map(({ problem }) => problem?.code)).toEqual([undefined, "internal", undefined]);
    world.engine.isUnreachable = true;
    expect((await review()).map(({ problem }) => problem?.code)).toEqual(names.map(() => "unreachable"));
  });

  test("goes on after the process ended in between: each run is made or not, and the rest is made by sending it again", async () => {
    const executors = await seen();
    let writes = 0;
    const dying = world.instance({
      id: "dying",
      // Before the second run is written the process is gone.
      gate: async () => {
        writes += 1;
        if (writes > 1) await new Promise(() => undefined);
      },
    });
    const first = create(undefined, dying);
    void first.perform(systemActor, { action: "update", executors });
    while ((await world.db.read.select().from(runs)).length === 0) await Bun.sleep(1);
    const made = await world.db.read.select().from(runs).orderBy(desc(runs.id));
    expect(made).toHaveLength(1);
    const { results } = await perform({ action: "update", executors });
    expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(["done", "done", "refused"]);
    expect(await states()).toEqual({ web: ["pending"], db: ["pending"], cache: ["pending"] });
  });
});

describe("the other actions", () => {
  test("approves the runs that wait for it, once", async () => {
    for (const name of ["web", "db"] as const) {
      await within(
        world.main.executors.update(systemActor, ids[name], { trigger: "immediate", requires_approval: true }),
      );
    }
    await world.tick();
    await world.tick();
    expect((await review()).map(({ problem }) => problem?.code)).toEqual([
      "awaits_approval",
      "awaits_approval",
      undefined,
    ]);
    const reviews = await within(create().review("approve", all(), live));
    expect(reviews.map(({ problem }) => problem?.code)).toEqual([undefined, undefined, "not_awaiting"]);
    const executors = reviews
      .filter(({ problem }) => problem === null)
      .map(({ executor, plan_hash }) => ({
        ...{ id: executor.id, plan_hash: plan_hash ?? "", newest_run_id: executor.newest_run_id },
      }));
    expect(told((await perform({ action: "approve", executors })).results)).toEqual([
      ["web", "done", undefined],
      ["db", "done", undefined],
    ]);
    expect(told((await perform({ action: "approve", executors })).results)).toEqual([
      ["web", "refused", "not_awaiting"],
      ["db", "refused", "not_awaiting"],
    ]);
    await work();
    expect(await states()).toEqual({ web: ["succeeded"], db: ["succeeded"], cache: [] });
  });

  test.each([
    ["hold", "executor_held"],
    ["disable", "executor_updated"],
  ])("%s changes what is not so yet, each with its entry in the audit", async (action, event) => {
    await perform({ action, executors: [{ id: ids.db }] });
    const executors = all().map((id) => ({ id }));
    expect(told((await perform({ action, executors })).results)).toEqual([
      ["web", "done", undefined],
      ["db", "unchanged", undefined],
      ["cache", "done", undefined],
    ]);
    expect(await audited()).toEqual(["db", "web", "cache"].map((name) => [event, name]));
  });

  test("checks a tracker that several follow once", async () => {
    await perform({ action: "check", executors: all().map((id) => ({ id })) });
    expect(checked).toEqual(["app"]);
  });

  test("deletes what has no run in progress", async () => {
    await within(world.main.runs.create(systemActor, ids.db, {}));
    expect((await within(create().review("delete", all(), live))).map(({ problem }) => problem?.code)).toEqual([
      undefined,
      "run_active",
      undefined,
    ]);
    const { results } = await perform({ action: "delete", executors: all().map((id) => ({ id })) });
    expect(told(results)).toEqual([
      ["web", "done", undefined],
      ["db", "refused", "run_active"],
      ["cache", "done", undefined],
    ]);
    expect((await world.main.executors.list({})).items.map(({ name }) => name)).toEqual(["db"]);
    expect(world.engine.calls).toEqual([]);
  });

  test.each([
    ["none", { action: "hold", executors: [] }],
    ["an update without its plan", { action: "update", executors: [{ id: "a" }] }],
    ["an unknown action", { action: "explode", executors: [{ id: "a" }] }],
    ["too many", { action: "hold", executors: Array.from({ length: 501 }, (_, id) => ({ id: String(id) })) }],
  ])("refuses %s as a whole", async (_name, input) => {
    await expect(perform(input)).rejects.toBeInstanceOf(AppError);
  });
});
