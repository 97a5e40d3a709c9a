import type { Clock } from "../clock.ts";
import { reachOf } from "../connections/schema.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Reader } from "../db/client.ts";
import { fromText, inEnglish, told, toldAs } from "../messages/message.ts";
import { areAllSkipped, covers, isSkipped, isSnoozed, revisionOf } from "./deferral-schema.ts";
import { isUpdate } from "./desired.ts";
import {
  type Observation,
  observationNow,
  observationOf,
  type ServiceObservation,
  unknownBuild,
} from "./observation-schema.ts";
import { outageView, servingNow } from "./outage-schema.ts";
import {
  bindingsOfExecutors,
  connectionFacts,
  decisiveRuns,
  type ExecutorRow,
  executorsObserved,
  type RunSummary,
  unsuccessfulRuns,
} from "./queries.ts";
import type { ExecutorState, ExecutorView } from "./schema.ts";
import { type FindTargetKind, storedSettings, targetOfRow, windowOf } from "./settings.ts";
import { unacceptedSettings } from "./unknown-settings.ts";
import { currentOpening, nextOpenings } from "./window.ts";

interface ViewDeps {
  read: Reader;
  clock: Clock;
  counted: CountedTime;
  timezone: () => string;
  findTargetKind: FindTargetKind;
}

const shownOpenings = 3;
const activeStates = ["pending", "capturing", "updating", "verifying"];

export function isActive(run: Pick<RunSummary, "state">): boolean {
  return activeStates.includes(run.state);
}

/** What a queued run waits for before it starts; null if only for its turn. */
function waitOf(run: RunSummary): ExecutorView["waiting"] {
  if (run.state !== "pending") return null;
  if (run.approval === "awaiting") return { reason: "approval", until: run.approval_until, ...toldAs("message", null) };
  const said = toldAs("message", run.reason);
  switch (run.reason_code) {
    case "waiting_for_connection":
      return { reason: "connection", until: null, ...said };
    case "waiting_for_runtime":
      return { reason: "runtime", until: null, ...said };
    case "waiting_for_window":
      return { reason: "window", until: run.due_at, ...said };
    default:
      return null;
  }
}

/** What an update waits for before there is a run. */
function updateWaitOf(observation: Observation | null): ExecutorView["waiting"] {
  const waiting = observation?.waiting ?? null;
  return waiting === null ? null : { ...waiting, ...toldAs("message", null) };
}

/** What the administrator decided, as the row has it. */
type Decided = Pick<ExecutorRow, "held_since" | "snoozed_until" | "skipped_versions" | "dismissed_run_id">;

/** `counted`: counted time. */
function stateOf(
  row: Decided,
  observation: Observation | null,
  recent: readonly RunSummary[],
  counted: number,
): ExecutorState {
  const active = recent.find(isActive);
  if (active !== undefined) return waitOf(active) === null ? "running" : "waiting";
  const last = recent.find((run) => run.state !== "skipped");
  if (last?.state === "failed" && servingOf(last) === "none") return "failed";
  if (observation === null || observation.problem !== null) return "unknown";
  const found = foundState(row, observation, last);
  if (found === "failed" || found === "unknown") return found;
  if (row.held_since !== null) return "held";
  return isSnoozed(row, counted) ? "snoozed" : found;
}

/** Without what pauses automatic updates for a while. */
function foundState(
  row: Decided,
  { services, waiting, desired_revision }: Observation,
  last: RunSummary | undefined,
): ExecutorState {
  const updates = services.filter((service) => isUpdate(service.difference));
  if (updates.length > 0) {
    if (areAllSkipped(row, updates)) return "skipped";
    if (waiting !== null) return "waiting";
    const hasFailed = last?.state === "failed" && last.kind === "update";
    if (!hasFailed || !covers(last.desired_revision, desired_revision)) return "update";
    return last.id === row.dismissed_run_id ? "dismissed" : "failed";
  }
  const isKnown = services.every((service) => service.difference !== null && service.difference !== "unknown");
  return isKnown ? "current" : "unknown";
}

function servingOf(run: RunSummary) {
  return servingNow({ serving: run.serving, outage: outageView(run) });
}

/** The failed run that can be dismissed: the last settled one, while the previous version runs. */
export function dismissibleRun(
  last: RunSummary | null | undefined,
  { dismissed_run_id }: Pick<ExecutorRow, "dismissed_run_id">,
): string | null {
  if (last?.state !== "failed" || last.id === dismissed_run_id) return null;
  return servingOf(last) === "previous" ? last.id : null;
}

/** The services that an update would change now, by the last observation. */
export function updatesOf(row: Pick<ExecutorRow, "observed">): readonly ServiceObservation[] {
  const services = observationOf(row)?.services ?? [];
  return services.filter(({ desired, difference }) => desired !== null && isUpdate(difference));
}

/** Identifies the update that is available, without what is skipped; null if there is none. */
function updateRevisionOf(row: Pick<ExecutorRow, "observed" | "skipped_versions">): string | null {
  return revisionOf(updatesOf(row).filter((each) => !isSkipped(row, each)));
}

/** The first service of a target with an unknown build decides. */
function unknownBuildOf(observation: Observation | null, target: ExecutorView["target"]): ExecutorView["problem"] {
  const problems = observation?.services.map((each) => unknownBuild(each, target.is_group ? each.service : target.id));
  return problems?.find((problem) => problem !== null) ?? null;
}

/** The ids of all executors by their state. */
export async function executorsByState({
  read,
  clock,
  counted,
}: Pick<ViewDeps, "read" | "clock" | "counted">): Promise<ReadonlyMap<ExecutorState, readonly string[]>> {
  const [rows, runs] = await Promise.all([executorsObserved(read), unsuccessfulRuns(read)]);
  const facts = await connectionFacts(read, [...new Set(rows.map((row) => row.connection_id))]);
  const now = clock.now();
  const reaches = new Map(facts.map((connection) => [connection.id, reachOf(connection, now)]));
  const lasts = new Map(runs.map(({ executor_id, run }) => [executor_id, run]));
  const found = new Map<ExecutorState, string[]>();
  for (const row of rows) {
    const reach = reaches.get(row.connection_id);
    if (reach === undefined) continue;
    const last = lasts.get(row.id);
    const state = stateOf(row, observationNow(row, reach), last === undefined ? [] : [last], counted.now());
    found.getOrInsertComputed(state, () => []).push(row.id);
  }
  return found;
}

/** Executors as the API shows them: with the last observation and what comes next. */
export async function executorViews(deps: ViewDeps, rows: readonly ExecutorRow[]): Promise<ExecutorView[]> {
  const { read, clock } = deps;
  const ids = rows.map((row) => row.id);
  const [bindings, runs] = await Promise.all([bindingsOfExecutors(read, ids), decisiveRuns(read, ids)]);
  const connections = await connectionFacts(read, [...new Set(rows.map((row) => row.connection_id))]);
  const now = clock.now();
  const zone = deps.timezone();
  const views: ExecutorView[] = [];
  for (const row of rows) {
    const connection = connections.find((each) => each.id === row.connection_id);
    if (connection === undefined) continue;
    const recent = runs.get(row.id) ?? [];
    const reach = reachOf(connection, now);
    const observation = observationNow(row, reach);
    const last = recent.find((run) => !isActive(run));
    const active = recent.find(isActive);
    const window = row.trigger === "window" ? windowOf(row) : null;
    const target = targetOfRow(row, deps.findTargetKind);
    const state = stateOf(row, observation, recent, deps.counted.now());
    const problem = observation?.problem ?? reach.problem;
    views.push({
      id: row.id,
      name: row.name,
      description: row.description,
      is_enabled: row.is_enabled,
      connection_id: row.connection_id,
      connection: {
        id: connection.id,
        name: connection.name,
        kind: connection.kind,
        is_enabled: connection.is_enabled,
        reach,
      },
      target,
      bindings: bindings
        .filter((binding) => binding.executor_id === row.id)
        .map(({ service, tracker, source, channel }) => ({ service, tracker, source, channel })),
      window: windowOf(row),
      ...storedSettings(row),
      health_check: { ...row.health_check },
      unknown_settings: row.unknown_settings.map((text) => inEnglish(fromText(text))),
      unknown_settings_data: row.unknown_settings.map(fromText),
      accepted_unknown_settings: row.accepted_unknown_settings.map((text) => inEnglish(fromText(text))),
      warnings: warningsOf(row),
      state,
      services: observation?.services ?? [],
      unbound: observation?.unbound ?? [],
      observed_at: row.observed_at,
      problem: problem ?? (state === "unknown" ? unknownBuildOf(observation, target) : null),
      waiting: (active === undefined ? null : waitOf(active)) ?? updateWaitOf(observation),
      open_window: window === null ? null : currentOpening(window, zone, now),
      next_windows: window === null ? [] : nextOpenings(window, zone, now, shownOpenings),
      active_run_id: active?.id ?? null,
      newest_run_id: recent[0]?.id ?? null,
      held_since: row.held_since,
      snoozed_until: isSnoozed(row, deps.counted.now()) ? row.snoozed_until : null,
      update_revision: updateRevisionOf(row),
      skipped_revision: revisionOf(row.skipped_versions.map((each) => ({ service: each.service, desired: each }))),
      is_version_skipped: areAllSkipped(row, updatesOf(row)),
      dismissible_run_id:
        active === undefined
          ? dismissibleRun(
              recent.find((run) => run.state !== "skipped"),
              row,
            )
          : null,
      last_run: last === undefined ? null : lastRunView(last),
      created_at: row.created_at,
      updated_at: row.updated_at,
    });
  }
  return views;
}

/** Findings of the last inspection that keep automatic runs from starting. */
function warningsOf(row: ExecutorRow): ExecutorView["warnings"] {
  if (row.trigger === "manual") return [];
  const unaccepted = unacceptedSettings(row, row.unknown_settings.map(fromText));
  return unaccepted === null ? [] : [{ code: unaccepted.code, ...told(unaccepted.message) }];
}

function lastRunView(run: RunSummary): NonNullable<ExecutorView["last_run"]> {
  return {
    id: run.id,
    kind: run.kind,
    state: run.state,
    reason_code: run.reason_code,
    ...toldAs("reason", run.reason),
    serving: run.serving,
    outage: outageView(run),
    downtime_ms: run.downtime_ms,
    from_tag: run.from_tag,
    to_tag: run.to_tag,
    started_at: run.started_at,
    ended_at: run.ended_at,
  };
}
