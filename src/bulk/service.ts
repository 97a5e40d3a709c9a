import type { Actor } from "../auth/schema.ts";
import type { Clock } from "../clock.ts";
import type { ActionInput } from "../executors/deferral-schema.ts";
import { type PlanView, stepsOfPlan, whyNoRun } from "../executors/plan-schema.ts";
import { type ExecutorView, executorStates } from "../executors/schema.ts";
import type { ExecutorService } from "../executors/service.ts";
import { parseInput } from "../forms/issues.ts";
import type { Log } from "../log.ts";
import { say } from "../messages/message.ts";
import type { Problem } from "../messages/schema.ts";
import type { RunService } from "../runs/service.ts";
import type { TrackerService } from "../trackers/service.ts";
import { type Done, eachByItself, enabledOnce, problem, refused } from "./each.ts";
import {
  BulkInput,
  BulkPlansInput,
  type BulkPlansView,
  type BulkResultView,
  type BulkReview,
  maxBulk,
  type ReviewedAction,
} from "./schema.ts";
import { whyUnsafe } from "./unsafe.ts";

interface BulkOptions {
  clock: Clock;
  log: Log;
  executors: Pick<ExecutorService, "byIds" | "list" | "planTogether" | "act" | "update" | "remove">;
  runs: Pick<RunService, "create" | "decide" | "view">;
  trackers: Pick<TrackerService, "breakingIn" | "requestCheck">;
}

/** How long the plans of all executors may take together. */
const plansMs = 20_000;
/** Plans made at once on one connection, so that an unresponsive engine does not delay the others. */
const plansAtOnce = 8;

/** States in which there may be an update. */
const noUpdate: ReadonlySet<string> = new Set(["current", "running", "unknown"]);

interface Planned {
  plan: PlanView | null;
  problem: Problem | null;
}

type Together = ReturnType<BulkOptions["executors"]["planTogether"]>;

type Seen = (BulkInput & { action: "update" })["executors"][number];

/** The same action on several executors. */
export function bulkService(options: BulkOptions) {
  const { clock, executors, runs, trackers } = options;
  const each = eachByItself("executor", options.log);

  const planOf = async (
    executor: ExecutorView,
    { together, over, signal }: { together: Together; over: Promise<null>; signal: AbortSignal },
  ): Promise<Planned> => {
    const late = { plan: null, problem: problem("late", say("bulk.late")) };
    if (signal.aborted) return late;
    try {
      const plan = await Promise.race([together.plan(executor.id), over]);
      return plan === null ? late : { plan, problem: whyNoRun(plan) };
    } catch (error) {
      return signal.aborted ? late : { plan: null, problem: each.problemOf(error, executor.name) };
    }
  };

  /** Plans several executors within a time limit and yields each plan as soon as it is ready. Several connections at once. */
  const eachPlanned = async <T>(
    views: readonly ExecutorView[],
    asked: AbortSignal | null,
    use: (executor: ExecutorView, planned: Planned) => Promise<T>,
  ): Promise<ReadonlyMap<string, T>> => {
    const done = new Map<string, T>();
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, ...(asked === null ? [] : [asked])]);
    const over = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
    clock.sleep(plansMs, signal).then(
      () => ended.abort(),
      () => undefined,
    );
    await using together = executors.planTogether(signal);
    const waiting = { together, over, signal };
    const lanes = [...Map.groupBy(views, (view) => view.connection_id).values()].flatMap((own) => {
      const queue = own.values();
      return Array.from({ length: plansAtOnce }, async () => {
        for (const executor of queue) {
          const why = whyNotStarted(executor);
          const planned = why === null ? await planOf(executor, waiting) : { plan: null, problem: why };
          done.set(executor.id, await use(executor, planned));
        }
      });
    });
    try {
      await Promise.all(lanes);
    } finally {
      ended.abort();
    }
    return done;
  };

  const reviewOf = async (executor: ExecutorView, planned: Planned): Promise<BulkReview> => {
    const { plan } = planned;
    const breaking = plan === null ? [] : await trackers.breakingIn(stepsOfPlan(plan));
    return {
      ...{ executor, ...planned, breaking },
      unsafe: whyUnsafe({ executor, plan, breaking }),
      plan_hash: planned.problem === null ? (plan?.plan?.hash ?? null) : null,
    };
  };

  const reviewApproval = async (executor: ExecutorView): Promise<BulkReview> => {
    const { active_run_id, waiting } = executor;
    const isAwaiting = waiting?.reason === "approval" && active_run_id !== null;
    const hash = isAwaiting ? (await runs.view(active_run_id)).plan_hash : null;
    const why = hash === null ? problem("not_awaiting", say("bulk.not_awaiting")) : null;
    return { executor, problem: why, unsafe: [], plan_hash: hash, plan: null, breaking: [] };
  };

  const reviewDeletion = (executor: ExecutorView): BulkReview => {
    const { active_run_id: run } = executor;
    const why = run === null ? null : problem("run_active", say("executors.in_progress", { run }));
    return { executor, problem: why, unsafe: [], plan_hash: null, plan: null, breaking: [] };
  };

  const reviewUpdates = async (views: readonly ExecutorView[], signal: AbortSignal): Promise<readonly BulkReview[]> => {
    const reviews = await eachPlanned(views, signal, reviewOf);
    return views.flatMap(({ id }) => reviews.get(id) ?? []);
  };

  /** By name. */
  const withUpdate = async (): Promise<readonly ExecutorView[]> => {
    const found: ExecutorView[] = [];
    for (const state of executorStates.filter((each) => !noUpdate.has(each))) {
      let cursor: string | null | undefined;
      do {
        const page = await executors.list({ state, limit: 100, ...(cursor == null ? {} : { cursor }) });
        found.push(...page.items.filter((each) => each.update_revision !== null || each.is_version_skipped));
        cursor = page.next_cursor;
      } while (cursor !== null && found.length <= maxBulk);
    }
    return found.toSorted((a, b) => a.name.localeCompare(b.name));
  };

  const start = async (
    actor: Actor,
    { id }: ExecutorView,
    { plan, problem: why }: Planned,
    { plan_hash, newest_run_id }: Seen,
  ): Promise<Done> => {
    if (why !== null) return { outcome: "refused", problem: why };
    if (plan?.plan?.hash !== plan_hash) return refused("plan_changed", say("bulk.plan_changed"));
    const run = await runs.create(actor, id, { plan_hash, newest_run_id });
    return { outcome: "done", run_id: run.id };
  };

  /** A run since then may have been for the same plan and have failed: a repeated request must not start another. */
  const startAll = async (
    actor: Actor,
    views: readonly ExecutorView[],
    asked: readonly Seen[],
  ): Promise<ReadonlyMap<string, Done>> => {
    const seen = new Map(asked.map((each) => [each.id, each]));
    const isSame = ({ id, newest_run_id }: ExecutorView) => newest_run_id === seen.get(id)?.newest_run_id;
    const others = views
      .filter((view) => !isSame(view))
      .map(({ id, newest_run_id }): [string, Done] => [
        id,
        { ...refused("run_since", say("runs.run_since")), run_id: newest_run_id },
      ]);
    // The request is carried out even if the client has disconnected.
    const started = await eachPlanned(views.filter(isSame), null, (executor, planned) =>
      each.orRefused(executor, async () => {
        const own = seen.get(executor.id);
        return own === undefined ? { outcome: "unchanged" } : await start(actor, executor, planned, own);
      }),
    );
    return new Map([...others, ...started]);
  };

  const decide = async (actor: Actor, { id }: ExecutorView, action: ActionInput): Promise<Done> => {
    const { undo } = await executors.act(actor, id, action);
    return { outcome: undo === null ? "unchanged" : "done" };
  };

  const approve = async (
    actor: Actor,
    { active_run_id: run_id }: ExecutorView,
    seen: Seen | undefined,
  ): Promise<Done> => {
    if (seen === undefined || run_id === null || run_id !== seen.newest_run_id) {
      return refused("not_awaiting", say("bulk.not_awaiting"));
    }
    await runs.decide(actor, run_id, { decision: "approve", plan_hash: seen.plan_hash });
    return { outcome: "done", run_id };
  };

  const remove = async (actor: Actor, { id }: ExecutorView): Promise<Done> => {
    await executors.remove(actor, id);
    return { outcome: "done" };
  };

  /** A tracker that several of them follow is checked once. */
  const checkAll = (actor: Actor) => {
    const checks = new Map<string, Promise<unknown>>();
    return async ({ bindings }: ExecutorView): Promise<Done> => {
      for (const { tracker } of bindings) {
        const check = checks.get(tracker) ?? trackers.requestCheck(actor, tracker);
        checks.set(tracker, check);
        await check;
      }
      return { outcome: "done" };
    };
  };

  const performEach = async (
    actor: Actor,
    views: readonly ExecutorView[],
    input: Exclude<BulkInput, { action: "update" }>,
  ): Promise<ReadonlyMap<string, Done>> => {
    const check = checkAll(actor);
    const perform = (executor: ExecutorView): Promise<Done> => {
      switch (input.action) {
        case "approve":
          return approve(actor, executor, askedOf(input.executors, executor));
        case "check":
          return check(executor);
        case "enable":
        case "disable":
          return enabledOnce(executor, input.action === "enable", (changes) =>
            executors.update(actor, executor.id, changes),
          );
        case "hold":
        case "resume":
          return decide(actor, executor, { action: input.action });
        case "dismiss":
        case "undismiss":
          return decide(actor, executor, {
            action: input.action,
            run_id: askedOf(input.executors, executor)?.run_id ?? "",
          });
        case "delete":
          return remove(actor, executor);
      }
    };
    return await each.perform(views, perform);
  };

  return {
    /** What the action would do with each executor that is there, and why not with the others. Throws nothing that one of them refuses. */
    review: async (
      action: ReviewedAction,
      ids: readonly string[],
      signal: AbortSignal,
    ): Promise<readonly BulkReview[]> => {
      const views = await executors.byIds(ids);
      switch (action) {
        case "update":
          return await reviewUpdates(views, signal);
        case "approve":
          return await Promise.all(views.map(reviewApproval));
        case "delete":
          return views.map(reviewDeletion);
      }
    },

    /** The same for an update of every executor that has one; `omitted_count` are not looked at. */
    reviewAll: async (signal: AbortSignal): Promise<{ reviews: readonly BulkReview[]; omitted_count: number }> => {
      const views = await withUpdate();
      return {
        reviews: await reviewUpdates(views.slice(0, maxBulk), signal),
        omitted_count: Math.max(0, views.length - maxBulk),
      };
    },

    /** For the API: what `update` would do. */
    plans: async (input: unknown, signal: AbortSignal): Promise<BulkPlansView> => {
      const { executor_ids } = parseInput(BulkPlansInput, input ?? {});
      const views = executor_ids === undefined ? await withUpdate() : await executors.byIds([...new Set(executor_ids)]);
      const reviews = await reviewUpdates(views.slice(0, maxBulk), signal);
      return {
        executors: reviews.map(({ executor: { id, name, newest_run_id }, breaking: _, unsafe, ...review }) => ({
          ...{ id, name, newest_run_id, ...review },
          unsafe: [...unsafe],
        })),
        omitted_count: Math.max(0, views.length - maxBulk),
      };
    },

    /** Each executor separately; a repeated request does only what is left. */
    perform: async (actor: Actor, input: unknown): Promise<BulkResultView> => {
      const parsed = parseInput(BulkInput, input);
      const ids = [...new Set(parsed.executors.map(({ id }) => id))];
      const views = await executors.byIds(ids);
      const done =
        parsed.action === "update"
          ? await startAll(actor, views, parsed.executors)
          : await performEach(actor, views, parsed);
      return { action: parsed.action, results: each.results(ids, views, done) };
    },
  };
}

function askedOf<T extends { id: string }>(asked: readonly T[], { id }: ExecutorView): T | undefined {
  return asked.find((each) => each.id === id);
}

/** Why no plan is needed to know that a run cannot start. */
function whyNotStarted({ is_enabled, connection, waiting, active_run_id: run }: ExecutorView): Problem | null {
  if (!is_enabled) return problem("executor_disabled", say("runs.executor_disabled"));
  if (!connection.is_enabled) {
    return problem("connection_disabled", say("executors.connection_disabled", { connection: connection.name }));
  }
  if (run !== null && waiting?.reason === "approval") {
    return problem("awaits_approval", say("bulk.awaits_approval"));
  }
  if (run !== null) return problem("run_active", say("executors.in_progress", { run }));
  return connection.reach.state === "unreachable" ? connection.reach.problem : null;
}
