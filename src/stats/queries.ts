import { and, asc, count, desc, eq, gte, inArray, isNotNull, lt, not, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Reader } from "../db/client.ts";
import { isPartOf } from "../db/listing.ts";
import { lookColumns } from "../db/look-columns.ts";
import { rowsAmong, rowsOfPrepared } from "../db/prepared.ts";
import { isCredentialRefused } from "../db/refused-credentials.ts";
import { isOfEnabled, isOfUnknownKind } from "../db/source-conditions.ts";
import {
  check_hours,
  connections,
  credentials,
  executor_bindings,
  executors,
  notifiers,
  releases,
  runs,
  tracker_sources,
  trackers,
  upstream_outages,
} from "../db/tables.ts";
import { sourceKinds } from "../trackers/schema.ts";

export { type RefusedRow, refusedSources } from "../db/refused-credentials.ts";

/** Literal, not bound: only then does the planner use the index over active runs. */
const isActive = sql`${runs.state} in ('pending', 'capturing', 'updating', 'verifying')`;

const executorColumns = {
  id: executors.id,
  name: executors.name,
  is_enabled: executors.is_enabled,
  trigger: executors.trigger,
  target_id: executors.target_id,
  connection_id: executors.connection_id,
  connection: connections.name,
};

/** What is shown of a run without its page: not its plan, which is most of a row. */
const runColumns = {
  id: runs.id,
  executor_id: runs.executor_id,
  kind: runs.kind,
  state: runs.state,
  reason_code: runs.reason_code,
  reason: runs.reason,
  desired_revision: runs.desired_revision,
  approval: runs.approval,
  approval_until: runs.approval_until,
  from_tag: runs.from_tag,
  from_digest: runs.from_digest,
  to_tag: runs.to_tag,
  to_digest: runs.to_digest,
  serving: runs.serving,
  downtime_ms: runs.downtime_ms,
  progress: runs.progress,
  outage: runs.outage,
  outage_due_at: runs.outage_due_at,
  created_at: runs.created_at,
  started_at: runs.started_at,
  ended_at: runs.ended_at,
};

/** In the order of the index on executors, so that only the last run is read. */
const lastSettled = sql`(
  select r.rowid from runs r where r.executor_id = ${executors.id} and r.state in ('succeeded', 'degraded', 'failed')
  order by r.rowid desc limit 1
)`;
/** What was observed of every executor's target, with the last run with changes if that failed; by name. */
const observedExecutors = rowsOfPrepared((read) =>
  read
    .select({
      id: executors.id,
      connection_id: executors.connection_id,
      observed: executors.observed,
      bad_run_id: runs.id,
    })
    .from(executors)
    .leftJoin(runs, and(sql`${runs}.rowid = ${lastSettled}`, inArray(runs.state, ["degraded", "failed"])))
    .orderBy(asc(executors.name)),
);
type ObservedRow = Awaited<ReturnType<typeof observedExecutors>>[number];

const executorsByIds = rowsAmong((read, isAmong) =>
  read
    .select({
      ...executorColumns,
      observed_at: executors.observed_at,
      held_since: executors.held_since,
      snoozed_until: executors.snoozed_until,
      skipped_versions: executors.skipped_versions,
      dismissed_run_id: executors.dismissed_run_id,
    })
    .from(executors)
    .innerJoin(connections, eq(connections.id, executors.connection_id))
    .where(isAmong(executors.id)),
);

const runsByIds = rowsAmong((read, isAmong) => read.select(runColumns).from(runs).where(isAmong(runs.id)));

/** The first executors by name whose last run with changes failed, or that may need attention otherwise; each with that run. */
export async function executorsToJudge(
  read: Reader,
  { mayNeed, limit }: { mayNeed: (row: Omit<ObservedRow, "bad_run_id">) => boolean; limit: number },
) {
  const all = await observedExecutors(read);
  const rows = all.filter((row) => row.bad_run_id !== null || mayNeed(row)).slice(0, limit);
  const bad = await runsByIds(
    read,
    rows.flatMap(({ bad_run_id }) => bad_run_id ?? []),
  );
  const found = await executorsByIds(
    read,
    rows.map(({ id }) => id),
  );
  const badRuns = new Map(bad.map((run) => [run.id, run]));
  const known = new Map(found.map((executor) => [executor.id, executor]));
  return rows.flatMap(({ id, observed, bad_run_id }) => {
    const executor = known.get(id);
    return executor === undefined
      ? []
      : [{ executor: { ...executor, observed }, run: badRuns.get(bad_run_id ?? "") ?? null }];
  });
}
export type JudgedRow = Awaited<ReturnType<typeof executorsToJudge>>[number];

/** Every connection with what determines whether it responds, by name. */
export const looksOfConnections = rowsOfPrepared((read) =>
  read
    .select({ id: connections.id, name: connections.name, look: lookColumns })
    .from(connections)
    .orderBy(asc(connections.name)),
);

/** Bindings to these trackers, each with its executor's observed state. */
export const bindingsOfTrackers = rowsAmong((read, isAmong) =>
  read
    .select({
      binding: executor_bindings,
      executor: {
        id: executors.id,
        name: executors.name,
        is_enabled: executors.is_enabled,
        target_id: executors.target_id,
        observed: executors.observed,
        connection_id: executors.connection_id,
      },
    })
    .from(executor_bindings)
    .innerJoin(executors, eq(executors.id, executor_bindings.executor_id))
    .where(isAmong(executor_bindings.tracker_id))
    .orderBy(asc(executors.name), asc(executor_bindings.service)),
);
export type BindingRow = Awaited<ReturnType<typeof bindingsOfTrackers>>[number];

/** Oldest first. */
export const activeRuns = rowsOfPrepared((read) =>
  read
    .select({ executor: executorColumns, run: runColumns })
    .from(runs)
    .innerJoin(executors, eq(executors.id, runs.executor_id))
    .innerJoin(connections, eq(connections.id, executors.connection_id))
    .where(isActive)
    .orderBy(asc(runs.due_at))
    .limit(sql.placeholder("limit")),
);
export type ActiveRow = Awaited<ReturnType<typeof activeRuns>>[number];

/** It fails for this reason, whatever its last check found. */
const isUnknown = isOfUnknownKind(tracker_sources, sourceKinds);
const isFailing = or(isNotNull(tracker_sources.failing_since), isUnknown);

/** It fails because its host does not respond: reported once with the host's outage. */
const waitsForHost = sql`(${tracker_sources.last_error_code} is 'unreachable' and exists (
  select 1 from ${upstream_outages}
  where ${upstream_outages.host} = ${tracker_sources.host} and ${upstream_outages.ended_at} is null
    and ${tracker_sources.next_check_at} <= ${upstream_outages.next_due_at}
) and not ${isUnknown})`;

/** Of enabled trackers, those that fail for their own reasons, the longest failing first. */
export const failingSources = rowsOfPrepared((read) =>
  read
    .select({
      tracker: trackers.name,
      source: tracker_sources.key,
      kind: tracker_sources.kind,
      host: tracker_sources.host,
      credential_id: tracker_sources.credential_id,
      credential: credentials.name,
      failing_since: tracker_sources.failing_since,
      last_success_at: tracker_sources.last_success_at,
      last_checked_at: tracker_sources.last_checked_at,
      next_check_at: tracker_sources.next_check_at,
      last_error_code: tracker_sources.last_error_code,
      last_error_message: tracker_sources.last_error_message,
    })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .leftJoin(credentials, eq(credentials.id, tracker_sources.credential_id))
    .where(and(eq(trackers.is_enabled, true), isFailing, not(waitsForHost), not(isCredentialRefused)))
    .orderBy(asc(tracker_sources.failing_since), asc(tracker_sources.id))
    .limit(sql.placeholder("limit")),
);
export type FailingRow = Awaited<ReturnType<typeof failingSources>>[number];

const allSources = rowsOfPrepared((read) =>
  read
    .select({
      total: count(),
      pending: sql<number>`coalesce(sum(${tracker_sources.last_checked_at} is null and not ${isUnknown}), 0)`,
      last_checked_at: sql<number | null>`max(${tracker_sources.last_checked_at})`,
    })
    .from(tracker_sources)
    .where(isOfEnabled(tracker_sources)),
);

// Only of the failing ones: these columns would take longer for all.
const allFailing = rowsOfPrepared((read) =>
  read
    .select({
      failing: count(),
      waiting_for_host: sql<number>`coalesce(sum(${waitsForHost}), 0)`,
      refused: sql<number>`coalesce(sum(${isCredentialRefused}), 0)`,
      /** The credentials that are refused, each once per host. */
      refused_credentials: sql<number>`count(distinct case when ${isCredentialRefused}
        then ${tracker_sources.credential_id} || ' ' || ${tracker_sources.host} end)`,
    })
    .from(tracker_sources)
    .where(and(isFailing, isOfEnabled(tracker_sources))),
);

/** Counts the sources of enabled trackers, and those of the failing ones. */
export async function sourceCounts(read: Reader) {
  const [[all], [failing]] = await Promise.all([allSources(read), allFailing(read)]);
  return {
    ...(all ?? { total: 0, pending: 0, last_checked_at: null }),
    ...(failing ?? { failing: 0, waiting_for_host: 0, refused: 0, refused_credentials: 0 }),
  };
}

const counted = (table: SQL) => sql<number>`(select count(*) from ${table})`;

const counting = rowsOfPrepared((read) =>
  read
    .select({
      trackers: counted(sql`${trackers}`),
      executors: counted(sql`${executors}`),
      connections: counted(sql`${connections}`),
      credentials: counted(sql`${credentials}`),
      notifiers: counted(sql`${notifiers}`),
    })
    .from(sql`(select 1)`),
);

/** Counts everything in one statement. */
export async function inventory(read: Reader) {
  const [counts] = await counting(read);
  return counts ?? { trackers: 0, executors: 0, connections: 0, credentials: 0, notifiers: 0 };
}

/** The windows in use, each once however many executors share it. */
export const windowsInUse = rowsOfPrepared((read) =>
  read
    .select({ window: executors.window, executors: count() })
    .from(executors)
    .where(and(eq(executors.trigger, "window"), eq(executors.is_enabled, true), isNotNull(executors.window)))
    .groupBy(executors.window)
    .orderBy(desc(count()))
    .limit(sql.placeholder("limit")),
);

/** The place of an instant among days; `starts` are their first instants, ascending. */
function dayOf(instant: SQLiteColumn, starts: readonly number[]) {
  const [, ...later] = starts;
  const branches = later.map((start, index) => sql`when ${instant} < ${start} then ${index}`);
  const day =
    later.length === 0 ? sql<number>`0` : sql<number>`case ${sql.join(branches, sql` `)} else ${later.length} end`;
  return day.as("day");
}

/** Runs by day of creation and by result, of one executor or of all; `starts` are the first instants of the days, ascending. */
export async function runsByDay(read: Reader, starts: readonly number[], executorId: string | null = null) {
  return await read
    .select({
      day: dayOf(runs.created_at, starts),
      state: runs.state,
      count: count(),
      stopped: count(runs.downtime_ms),
      downtime_ms: sql<number>`coalesce(sum(${runs.downtime_ms}), 0)`,
    })
    .from(runs)
    .where(
      and(gte(runs.created_at, starts[0] ?? 0), executorId === null ? undefined : eq(runs.executor_id, executorId)),
    )
    .groupBy(sql`day`, runs.state);
}

/** Checks by day. An hour counts to the day in which it begins. */
export async function checksByDay(read: Reader, starts: readonly number[]) {
  return await read
    .select({
      day: dayOf(check_hours.starts_at, starts),
      succeeded: sql<number>`sum(${check_hours.succeeded})`,
      failed: sql<number>`sum(${check_hours.failed})`,
    })
    .from(check_hours)
    .where(gte(check_hours.starts_at, starts[0] ?? 0))
    .groupBy(sql`day`);
}

/** Requests by host and hour, from `since` to `until`. */
export async function requestsByHour(read: Reader, since: number, until: number) {
  return await read
    .select({ host: check_hours.host, starts_at: check_hours.starts_at, requests: check_hours.requests })
    .from(check_hours)
    .where(and(gte(check_hours.starts_at, since), lt(check_hours.starts_at, until)));
}

/**
 * The last `limit` updates of an executor, without those whose version is not known to a tracker that it follows: when each ended, and
 * when its version was published, or else first seen. Newest first.
 */
export async function updatesWithRelease(read: Reader, executorId: string, limit: number) {
  const published = sql<number>`max(coalesce(${releases.published_at}, ${releases.first_observed_at}))`;
  const updates = read
    .select({ id: runs.id })
    .from(runs)
    .where(
      and(
        eq(runs.executor_id, executorId),
        eq(runs.kind, "update"),
        inArray(runs.state, ["succeeded", "degraded"]),
        isNotNull(runs.ended_at),
      ),
    )
    .orderBy(desc(runs.created_at))
    .limit(limit);
  return await read
    .select({ ended_at: runs.ended_at, tag: runs.to_tag, published_at: published })
    .from(runs)
    .innerJoin(executor_bindings, eq(executor_bindings.executor_id, runs.executor_id))
    .innerJoin(releases, and(eq(releases.source_id, executor_bindings.source_id), eq(releases.tag, runs.to_tag)))
    .where(inArray(runs.id, updates))
    .groupBy(runs.id)
    .orderBy(desc(runs.created_at));
}

/** The downtime at a position in the ascending order of those since `since`. */
export async function downtimeAt(read: Reader, since: number, place: number): Promise<number | null> {
  const rows = await read
    .select({ downtime_ms: runs.downtime_ms })
    .from(runs)
    .where(and(gte(runs.created_at, since), isNotNull(runs.downtime_ms)))
    .orderBy(asc(runs.downtime_ms))
    .limit(1)
    .offset(place);
  return rows[0]?.downtime_ms ?? null;
}

// Qualified names: in a statement with one table, columns lose the table's name, and both tables have an `id`.
const image = sql<string | null>`json_extract(tracker_sources.config, '$.image')`;
const ofTracker = sql`from tracker_sources where tracker_sources.tracker_id = trackers.id`;

/** Every word in the name, the description or the image of a source. */
export async function searchTrackers(read: Reader, terms: readonly string[], limit: number) {
  const hit = terms.map((term) =>
    or(
      isPartOf(term, trackers.name),
      isPartOf(term, trackers.description),
      sql`exists (select 1 ${ofTracker} and ${isPartOf(term, image)})`,
    ),
  );
  const images = sql<string>`(select json_group_array(${image}) ${ofTracker} and ${image} is not null)`;
  return await read
    .select({ name: trackers.name, description: trackers.description, images: images.as("images") })
    .from(trackers)
    .where(and(...hit))
    .orderBy(asc(sql`length(${trackers.name})`), asc(trackers.name))
    .limit(limit);
}

// The only service of a container is called `main` and has no name of its own.
const ofExecutor = sql`from executor_bindings
  where executor_bindings.executor_id = executors.id and executor_bindings.service <> 'main'`;
const boundService = sql<string>`executor_bindings.service`;

/** Every word in the name, the target or a bound service. */
export async function searchExecutors(read: Reader, terms: readonly string[], limit: number) {
  const hit = terms.map((term) =>
    or(
      isPartOf(term, executors.name),
      isPartOf(term, executors.target_id),
      sql`exists (select 1 ${ofExecutor} and ${isPartOf(term, boundService)})`,
    ),
  );
  const services = sql<string>`(select json_group_array(${boundService}) ${ofExecutor})`;
  return await read
    .select({
      ...{ id: executors.id, name: executors.name, target: executors.target_id, connection: connections.name },
      services: services.as("services"),
    })
    .from(executors)
    .innerJoin(connections, eq(connections.id, executors.connection_id))
    .where(and(...hit))
    .orderBy(asc(sql`length(${executors.name})`), asc(executors.name))
    .limit(limit);
}

/** At least one word in the tag, the others also in the tracker's name: "nginx 1.29". Newest first. */
export async function searchReleases(read: Reader, terms: readonly string[], limit: number) {
  return await read
    .select({
      tracker: trackers.name,
      source: tracker_sources.key,
      tag: releases.tag,
      version: releases.version,
      published_at: releases.published_at,
      first_observed_at: releases.first_observed_at,
    })
    .from(releases)
    .innerJoin(tracker_sources, eq(tracker_sources.id, releases.source_id))
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(
      and(
        or(...terms.map((term) => isPartOf(term, releases.tag))),
        ...terms.map((term) => or(isPartOf(term, releases.tag), isPartOf(term, trackers.name))),
      ),
    )
    .orderBy(desc(sql`coalesce(${releases.published_at}, ${releases.first_observed_at})`), desc(releases.id))
    .limit(limit);
}

/** Every word in the executor's name; newest first. */
export async function searchRuns(read: Reader, terms: readonly string[], limit: number) {
  return await read
    .select({ run: runs, executor: executors.name })
    .from(runs)
    .innerJoin(executors, eq(executors.id, runs.executor_id))
    .where(and(...terms.map((term) => isPartOf(term, executors.name))))
    .orderBy(desc(runs.id))
    .limit(limit);
}
