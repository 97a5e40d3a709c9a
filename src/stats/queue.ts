import type { ReachView } from "../connections/schema.ts";
import { covers, isSkipped, isSnoozed, revisionOf } from "../executors/deferral-schema.ts";
import {
  type Observation,
  observationNow,
  observationOf,
  type ServiceObservation,
} from "../executors/observation-schema.ts";
import { outageView, servingNow, servings } from "../executors/outage-schema.ts";
import { toldAs } from "../messages/message.ts";
import { reasonCodes } from "../runs/schema.ts";
import type { ActiveRow, JudgedRow } from "./queries.ts";
import type { BadRun, LostConnection, LostTarget, PendingUpdate } from "./schema.ts";

export type ImageDifference = NonNullable<ServiceObservation["difference"]>;

/** The runtime did not respond: a problem of the connection, not of one target. */
const connectionProblems: ReadonlySet<string> = new Set(["unreachable", "unauthorized", "rate_limited", "malformed"]);
/** Problems that somebody has to fix; others pass by themselves or are intended. */
const targetProblems: ReadonlySet<string> = new Set(["target_missing", "target_refused", "not_found", "rejected"]);

interface Sorted {
  updates: PendingUpdate[];
  waiting: PendingUpdate[];
  bad_runs: BadRun[];
  lost_connections: LostConnection[];
  lost_targets: LostTarget[];
  unknown: number;
}

/** What the connections are called, and whether they respond, by their ids. */
export type Reaches = ReadonlyMap<string, { name: string; reach: ReachView }>;

/** Whether an executor may be listed for what was observed of its target; if not, its target has the desired content. */
export function mayDiffer(row: { observed: object | null }, differences: readonly ImageDifference[]): boolean {
  const observation = observationOf(row);
  if (observation === null || observation.problem !== null || !isKnown(observation)) return true;
  return observation.services.some(({ difference }) => difference !== null && differences.includes(difference));
}

/** Each executor appears in one list at most: under its most urgent need. */
export function sortByNeed(
  rows: readonly JudgedRow[],
  running: ReadonlySet<string>,
  differences: readonly ImageDifference[],
  reaches: Reaches,
  /** Counted time. */
  counted: number,
): Sorted {
  const sorted: Sorted = { updates: [], waiting: [], bad_runs: [], lost_connections: [], lost_targets: [], unknown: 0 };
  for (const [id, { name, reach }] of reaches) {
    if (reach.problem !== null) sorted.lost_connections.push(lostConnection({ id, name }, reach.problem, reach));
  }
  for (const row of rows) {
    // An active run decides it; the run's page shows that.
    if (running.has(row.executor.id)) continue;
    const reach = reaches.get(row.executor.connection_id)?.reach ?? null;
    const observation = observationNow(row.executor, reach);
    const isDown = row.run?.state === "failed" && runServing(row.run) === "none";
    if (!row.executor.is_enabled && !isDown) continue;
    const update = observation === null ? null : updateOf(row, observation, differences);
    const bad = badRunOf(row, observation, update);
    if (bad !== null) sorted.bad_runs.push(bad);
    else if (observation?.problem) addProblem(sorted, row, observation.problem, reach);
    else if (update !== null) {
      if (!isDeferred(row, counted)) (update.waiting === null ? sorted.updates : sorted.waiting).push(update);
    } else if (observation === null || !isKnown(observation)) sorted.unknown += 1;
  }
  const age = (update: PendingUpdate) => update.published_at ?? Number.POSITIVE_INFINITY;
  sorted.updates.sort((a, b) => age(a) - age(b));
  sorted.waiting.sort((a, b) => (a.waiting?.until ?? 0) - (b.waiting?.until ?? 0));
  // Targets that are down first, then the latest run.
  const isUp = (run: BadRun) => (run.serving === "none" ? 0 : 1);
  sorted.bad_runs.sort((a, b) => isUp(a) - isUp(b) || (b.ended_at ?? 0) - (a.ended_at ?? 0));
  return sorted;
}

/** Whether the administrator has decided that its update needs no attention. */
function isDeferred({ executor, run }: JudgedRow, counted: number): boolean {
  const isDismissed = run !== null && run.id === executor.dismissed_run_id;
  return executor.held_since !== null || isSnoozed(executor, counted) || isDismissed;
}

function isKnown({ services }: Observation): boolean {
  return services.every(({ difference }) => difference !== null && difference !== "unknown");
}

function updateOf(
  { executor }: JudgedRow,
  observation: Observation,
  differences: readonly ImageDifference[],
): PendingUpdate | null {
  const behind = observation.services.filter(
    ({ service, desired, difference }) =>
      desired !== null &&
      difference !== null &&
      differences.includes(difference) &&
      !isSkipped(executor, { service, desired }),
  );
  const [first] = behind;
  if (first === undefined || first.desired === null) return null;
  return {
    ...executorFacts(executor),
    trigger: executor.trigger,
    update_revision: revisionOf(behind),
    service: first.service,
    from: { tag: first.found?.tag ?? null, digest: first.found?.digest ?? null },
    to: { tag: first.desired.tag, digest: first.desired.digest },
    more_services: behind.length - 1,
    services: behind.map(({ service, found, desired, behind: distance }) => ({
      service,
      from: { tag: found?.tag ?? null, digest: found?.digest ?? null },
      to: { tag: desired?.tag ?? null, digest: desired?.digest ?? null },
      behind: distance,
    })),
    published_at: first.desired.published_at,
    waiting: observation.waiting,
  };
}

/** The last run, if it failed and still matters; a newer waiting version or a manual repair ends that. */
function badRunOf(
  { executor, run }: JudgedRow,
  observation: Observation | null,
  update: PendingUpdate | null,
): BadRun | null {
  if (run === null || (run.state !== "failed" && run.state !== "degraded")) return null;
  const serving = runServing(run);
  const isDown = run.state === "failed" && serving === "none";
  if (!isDown && run.id === executor.dismissed_run_id) return null;
  const revision = observation?.desired_revision ?? null;
  const isSameRevision = run.kind === "update" && covers(run.desired_revision, revision);
  if (!isDown && update !== null && (update.waiting !== null || !isSameRevision)) return null;
  const isMoot = run.state === "failed" && serving === "previous" && update === null && observation?.problem === null;
  if (isMoot) return null;
  return {
    ...executorFacts(executor),
    run_id: run.id,
    ...runFacts(run),
    state: run.state,
    downtime_ms: run.downtime_ms,
    ended_at: run.ended_at,
    is_dismissible: run.state === "failed" && serving === "previous",
  };
}

function addProblem(
  sorted: Sorted,
  { executor }: JudgedRow,
  problem: NonNullable<Observation["problem"]>,
  reach: ReachView | null,
): void {
  const { code } = problem;
  if (reach?.problem == null && targetProblems.has(code)) {
    sorted.lost_targets.push({
      ...executorFacts(executor),
      problem,
      observed_at: executor.observed_at,
    });
    return;
  }
  if (reach?.problem == null && !connectionProblems.has(code)) {
    sorted.unknown += 1;
    return;
  }
  let lost = sorted.lost_connections.find((each) => each.connection_id === executor.connection_id);
  if (lost === undefined) {
    lost = lostConnection({ id: executor.connection_id, name: executor.connection }, problem, reach);
    sorted.lost_connections.push(lost);
  }
  lost.executors += 1;
  lost.observed_at = Math.max(lost.observed_at ?? 0, executor.observed_at ?? 0) || null;
}

function lostConnection(
  connection: { id: string; name: string },
  problem: LostConnection["problem"],
  reach: ReachView | null,
): LostConnection {
  const { seen_at = null, since = null } = reach ?? {};
  return {
    ...{ connection_id: connection.id, connection: connection.name, problem },
    state: reach?.problem == null || reach.state === "unreachable" ? "failing" : "unknown",
    ...{ executors: 0, observed_at: null, seen_at, since },
  };
}

type Run = ActiveRow["run"];

/** What is running now, as far as the run knows. */
function runServing(run: Run) {
  const serving = servings.find((known) => known === run.serving) ?? null;
  return servingNow({ serving, outage: outageView(run) });
}

/** The facts of a run shown on every page. */
export function runFacts(run: Run) {
  return {
    kind: run.kind,
    state: run.state,
    reason_code: reasonCodes.find((code) => code === run.reason_code) ?? null,
    ...toldAs("reason", run.reason),
    serving: runServing(run),
    outage: outageView(run),
    approval: run.approval,
    approval_until: run.approval_until,
    from: { tag: run.from_tag, digest: run.from_digest },
    to: { tag: run.to_tag, digest: run.to_digest },
  };
}

export function executorFacts({ id, name, connection, target_id }: ActiveRow["executor"]) {
  return { executor_id: id, executor: name, connection, target: target_id };
}
