import { PluginError, saidBy } from "../errors.ts";
import { type WantedVersion, whyDeferred } from "../executors/deferral-schema.ts";
import type { ExecutorSettings, PlannedUpdate } from "../executors/service.ts";
import { newId } from "../ids.ts";
import { inEnglish, say, toldAs, toldEach } from "../messages/message.ts";
import { needsReview, type UpdatePlan } from "../runtimes/plan.ts";
import type { Prepared } from "../runtimes/session.ts";
import { cleanUp, conclude, failAsObserved, undoAndFail } from "./conclude.ts";
import { type EndFacts, endRun, moveOn, type RunContext } from "./context.ts";
import { fence } from "./journal.ts";
import { imagesNeeded, keepImages } from "./kept-images.ts";
import { awaitOther, Overlap, refuseOverlap } from "./overlap.ts";
import { awaitApproval, needsApproval } from "./pending.ts";
import { hasAttempt } from "./queries.ts";
import type { FailureReason, Reason } from "./schema.ts";
import { snapshotContent } from "./snapshot-content.ts";
import { findSnapshot, insertSnapshot } from "./snapshot-queries.ts";
import { failedPart, storedPlan } from "./stored-plan.ts";

/** What a run is about to do, and what it needs for that. */
interface Intent {
  plan: UpdatePlan;
  /** The desired versions of an update; none for a rollback. */
  versions: readonly WantedVersion[];
  /** For a rollback: the configuration to restore. */
  snapshot: string | null;
  columns: NonNullable<EndFacts["columns"]>;
}

/** Thrown internally to end a run before its target was touched. */
export class NotStarted extends Error {
  readonly outcome: "skipped" | "failed";
  readonly reason: Reason;
  readonly columns: EndFacts["columns"];

  constructor(outcome: "skipped" | "failed", reason: Reason, columns: EndFacts["columns"] = {}) {
    super(inEnglish(reason.message));
    this.outcome = outcome;
    this.reason = reason;
    this.columns = columns;
  }
}

/** The failure reason for an error of the runtime or of a registry. */
export function faultOf(error: PluginError, otherwise: FailureReason): FailureReason {
  if (error.code === "unreachable" || error.code === "rate_limited") return error.code;
  return otherwise;
}

/** Performs a pending run from its plan to its end. */
export async function start(context: RunContext): Promise<void> {
  const { shutdown } = context;
  let state: "pending" | "capturing" = "pending";
  let prepared: Prepared;
  try {
    const intent = await withFaults("update_failed", () => decideIntent(context));
    if (needsApproval(context.run, context.settings)) {
      await awaitApproval(context, intent.columns);
      return;
    }
    const plan = storedPlan(intent.columns.plan, context.deps.connections.targetKind);
    if (plan === null) throw new Error("The plan cannot be read again");
    await moveOn(context, "pending", "capturing", intent.columns, (tx) => refuseOverlap(tx, context, plan));
    state = "capturing";
    context.plan = plan;
    prepared = await prepare(context, intent);
    await capture(context);
    shutdown.throwIfAborted();
  } catch (error) {
    if (error instanceof Overlap) return await awaitOther(context, error);
    if (!(error instanceof NotStarted)) throw error;
    if (state === "capturing") await context.session.unprepare?.(context.journal);
    const facts = { reason: error.reason, columns: error.columns };
    if (error.outcome === "skipped") await endRun(context, state, "skipped", facts);
    else if (state === "pending") await endRun(context, state, "failed", { ...facts, serving: "unknown" });
    else await failAsObserved(context, state, error.reason);
    return;
  }
  await moveOn(context, "capturing", "updating");
  await apply(context, prepared);
}

async function apply(context: RunContext, prepared: Prepared): Promise<void> {
  const { journal, lease, shutdown } = context;
  try {
    await prepared.apply(shutdown);
  } catch (error) {
    lease.signal.throwIfAborted();
    // Left at a safe point, for the next process to recover.
    if (shutdown.aborted && error === shutdown.reason) throw error;
    if (!(error instanceof PluginError)) context.deps.log.error("Update failed", { run: context.run.id, error });
    const code = error instanceof PluginError ? faultOf(error, "update_failed") : "internal_error";
    const container = failedPart(context.plan, journal.entries());
    const message = say("runs.failed", { kind: context.run.kind, container, cause: saidBy(error) });
    await undoAndFail(context, "updating", { code, message });
    await cleanUp(context);
    return;
  }
  await moveOn(context, "updating", "verifying");
  await conclude(context);
}

/** Turns a plug-in's error into the end of a run whose target was not touched. */
async function withFaults<T>(otherwise: FailureReason, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    throw new NotStarted("failed", { code: faultOf(error, otherwise), message: error.said });
  }
}

async function decideIntent(context: RunContext): Promise<Intent> {
  const { run } = context;
  const intent = run.kind === "rollback" ? await intendRollback(context) : await intendUpdate(context);
  if (run.expected_plan_hash !== null && run.expected_plan_hash !== intent.plan.hash) {
    throw new NotStarted("failed", { code: "target_changed", message: say("runs.target_changed") }, intent.columns);
  }
  return intent;
}

async function intendUpdate(context: RunContext): Promise<Intent> {
  const { deps, run, settings, session } = context;
  const planned = await deps.executors.planUpdate(settings, session, {
    is_automatic: run.trigger !== "manual",
    is_reviewed: run.expected_plan_hash !== null,
  });
  const columns = await updateColumns(context, planned);
  const versions = plannedVersions(planned);
  refuseDeferred(context, settings, versions, columns);
  // A plan that changed since its approval is reported as such, whatever else is wrong.
  const isOther =
    run.expected_plan_hash !== null && planned.plan !== null && planned.plan.hash !== run.expected_plan_hash;
  if (planned.unmet !== null && !isOther) throw new NotStarted("skipped", planned.unmet, columns);
  if (planned.plan === null) throw new Error(`The executor "${settings.name}" has no plan and no reason for it`);
  return { plan: planned.plan, versions, snapshot: null, columns };
}

/** The services that the plan changes, with their desired versions. */
function plannedVersions({ plan, services }: PlannedUpdate): readonly WantedVersion[] {
  const changed = new Set((plan?.changes ?? []).map((change) => change.service));
  return services.filter(({ service }) => changed.has(service));
}

/** Ends an automatic run whose executor was put on hold or snoozed, or whose version was skipped, since the run was queued. */
function refuseDeferred(
  { deps, run }: RunContext,
  settings: ExecutorSettings,
  versions: readonly WantedVersion[],
  columns: EndFacts["columns"] = {},
): void {
  if (run.trigger === "manual") return;
  const why = whyDeferred(settings, versions, { now: deps.counted.now(), stage: "plan" });
  if (why !== null) throw new NotStarted("skipped", why, columns);
}

export async function intendRollback(context: RunContext): Promise<Intent> {
  const { deps, run, settings, session } = context;
  const snapshot = run.snapshot_id === null ? null : await findSnapshot(deps.db.read, run.snapshot_id);
  if (snapshot === null) {
    throw new NotStarted("failed", { code: "snapshot_missing", message: say("runs.snapshot_removed") });
  }
  if (session.snapshots === undefined) {
    throw new NotStarted("failed", { code: "snapshot_missing", message: say("runs.without_snapshots") });
  }
  const { value: text, problem } = snapshotContent(deps.sealer, snapshot);
  if (problem !== null) throw new NotStarted("failed", { code: "snapshot_missing", message: problem });
  const owed = await deps.executors.owedParts(settings);
  const plan = await session.snapshots.planRestore(settings.target, text, owed);
  const [service] = plan.services;
  const columns = {
    plan: publicPlan(plan),
    plan_hash: plan.hash,
    from_digest: service?.from.digest ?? null,
    from_tag: tagOf(service?.from.reference ?? ""),
    to_digest: service?.to.digest ?? snapshot.digest,
    to_tag: tagOf(snapshot.reference),
  };
  const target = settings.target.id;
  const [refusal] = plan.refusals;
  if (refusal !== undefined) {
    const message = say("runs.not_restorable", { target, cause: refusal.message });
    throw new NotStarted("skipped", { code: "target_refused", message }, columns);
  }
  const unreviewed = plan.warnings.find(({ code }) => needsReview.has(code));
  if (unreviewed !== undefined && run.expected_plan_hash === null) {
    const message = say("runs.restore_unreviewed", { target, cause: unreviewed.message });
    throw new NotStarted("skipped", { code: "target_refused", message }, columns);
  }
  if (plan.is_noop) {
    const message = say("runs.matches_snapshot", { target });
    throw new NotStarted("skipped", { code: "already_current", message }, columns);
  }
  return { plan, versions: [], snapshot: text, columns };
}

function tagOf(reference: string): string | null {
  const name = reference.split("@")[0] ?? "";
  const colon = name.lastIndexOf(":");
  return colon > name.lastIndexOf("/") ? name.slice(colon + 1) : null;
}

/** The plan as stored and shown: without the images' defaults and the charts' archives, which are large and add nothing. */
function publicPlan(plan: UpdatePlan): Readonly<Record<string, unknown>> {
  const changes = plan.changes.map((change) =>
    Object.fromEntries(Object.entries(change).filter(([key]) => key !== "image_config" && key !== "archive")),
  );
  const { detail, ...common } = plan;
  const { files, refusals, warnings } = common;
  return {
    // Kept at the top level, where they were before `detail` existed.
    ...detail,
    ...common,
    detail,
    changes,
    files: toldEach(files),
    refusals: toldEach(refusals),
    warnings: toldEach(warnings),
  };
}

async function updateColumns(context: RunContext, planned: PlannedUpdate): Promise<Intent["columns"]> {
  const { deps, run } = context;
  const [service] = planned.services;
  const revision = run.trigger === "manual" ? planned.desired_revision : planned.wanted_revision;
  // An automatic run that finds a newer revision than it was queued for counts for the newer one, unless another run already does.
  const isTaken =
    revision !== null &&
    revision !== run.desired_revision &&
    run.trigger !== "manual" &&
    (await hasAttempt(deps.db.read, run.executor_id, revision, run.attempt));
  return {
    from_tag: service?.found?.tag ?? null,
    from_digest: service?.found?.digest ?? null,
    to_tag: service?.desired?.tag ?? null,
    to_digest: service?.desired?.digest ?? null,
    ...(revision === null || isTaken ? {} : { desired_revision: revision }),
    ...(planned.plan === null ? {} : { plan: publicPlan(planned.plan), plan_hash: planned.plan.hash }),
  };
}

/** Pulls; the target is not touched. */
export async function prepare(context: RunContext, intent: Intent): Promise<Prepared> {
  const { deps, run, settings, session, journal, shutdown } = context;
  const { plan, snapshot } = intent;
  const auths = await deps.executors.pullLogins(settings, plan);
  const prepared = await withFaults("pull_failed", () =>
    unlessAborted(shutdown, () =>
      snapshot === null || session.snapshots === undefined
        ? session.prepare(plan, auths, journal)
        : session.snapshots.prepareRestore(plan, snapshot, auths, journal),
    ),
  );
  if (prepared.is_noop) {
    const message = say("runs.same_image", { target: settings.target.id });
    throw new NotStarted("skipped", { code: "already_current", message });
  }
  // A pull can take long, so the executor's settings are read again before anything is touched.
  const current = await deps.executors.settings(run.executor_id);
  refuseDeferred(context, current, intent.versions);
  if (!isWindowOpen({ ...context, settings: current })) {
    const message = say("runs.window_closed_meanwhile", { executor: settings.name });
    throw new NotStarted("skipped", { code: "window_closed", message });
  }
  deps.log.debug("Run prepared", { run: run.id });
  return prepared;
}

/** Starts nothing once the process is shutting down, and stops waiting when it begins to. */
async function unlessAborted(signal: AbortSignal, begin: () => Promise<Prepared>): Promise<Prepared> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([begin(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Whether the executor's window, as given, allows the run; always true for runs that ignore it. */
export function isWindowOpen(context: Pick<RunContext, "deps" | "run" | "settings">): boolean {
  const { deps, run, settings } = context;
  return run.ignore_window || deps.executors.isWindowOpen(settings);
}

/** Saves the complete configuration, encrypted, before anything is touched. */
async function capture(context: RunContext): Promise<void> {
  const { deps, run, settings, session, journal, lease } = context;
  if (session.snapshots === undefined) return;
  const { snapshots } = session;
  await journal.begin("snapshot");
  let text: string;
  try {
    text = await snapshots.capture(settings.target);
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    await journal.fail("snapshot", toldAs("error", error.said));
    // A rollback may be the way to restore a target that is gone or beyond repair.
    if (run.kind === "rollback" && error.code === "not_found") return;
    throw new NotStarted("failed", {
      code: faultOf(error, "snapshot_failed"),
      message: say("runs.snapshot_failed", { cause: error.said }),
    });
  }
  const now = deps.clock.now();
  const id = newId(now);
  const [service] = context.plan?.services ?? [];
  const sealed = deps.sealer.seal(text);
  const imageIds = await imagesNeeded(context, text);
  const removed = await deps.db.write(async (tx) => {
    await fence(tx, lease, now);
    return await insertSnapshot(
      tx,
      {
        id,
        executor_id: run.executor_id,
        run_id: run.id,
        sealed_content: sealed,
        reference: service?.from.reference ?? "",
        digest: service?.from.digest ?? null,
        image_id: service?.from.image_id ?? "",
        image_ids: imageIds,
        size_bytes: Buffer.byteLength(text),
        created_at: now,
      },
      await deps.snapshotLimit(tx),
    );
  });
  const warning = await keepImages(context, imageIds);
  await journal.finish("snapshot", {
    snapshot_id: id,
    removed: removed.length,
    ...(warning === null ? {} : toldAs("images_not_kept", warning)),
  });
}
