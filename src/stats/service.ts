import * as v from "valibot";
import { reachOf } from "../connections/schema.ts";
import { observationNow, unknownBuild } from "../executors/observation-schema.ts";
import { parseInput } from "../forms/issues.ts";
import { plain, told } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { kindProblem } from "../trackers/schema.ts";
import type { UpstreamOutageView } from "../trackers/upstreams/schema.ts";
import { byCause, byConnection, bySharedReason } from "./causes.ts";
import { dayStarts } from "./days.ts";
import {
  type ActiveRow,
  activeRuns,
  type BindingRow,
  bindingsOfTrackers,
  checksByDay,
  downtimeAt,
  executorsToJudge,
  type FailingRow,
  failingSources,
  inventory,
  looksOfConnections,
  type RefusedRow,
  refusedSources,
  requestsByHour,
  runsByDay,
  searchExecutors,
  searchReleases,
  searchRuns,
  searchTrackers,
  sourceCounts,
  updatesWithRelease,
  windowsInUse,
} from "./queries.ts";
import { executorFacts, type ImageDifference, mayDiffer, type Reaches, runFacts, sortByNeed } from "./queue.ts";
import {
  type ActiveRun,
  type DayOfRuns,
  type ExecutorHistory,
  type FailingSource,
  type NextWindow,
  type PendingUpdate,
  type RefusedCredential,
  type RequestHours,
  SearchQuery,
  type SearchView,
  type StatsView,
  type StatusView,
  type TrackerUse,
} from "./schema.ts";

type StoredWindow = Awaited<ReturnType<typeof windowsInUse>>[number]["window"];

interface Opening {
  opens_at: number;
  closes_at: number;
}

interface StatsServiceOptions extends Pick<Parts, "db" | "clock" | "counted"> {
  timezone: () => string;
  /** Differences in content, which an update resolves. */
  updateDifferences: readonly ImageDifference[];
  /** The current or next opening of a stored window; null when there is none. */
  openingOf: (window: StoredWindow, zone: string, now: number) => Opening | null;
  /** The hosts that do not respond, with the sources that wait for them. */
  outages: () => Promise<readonly UpstreamOutageView[]>;
}

export type StatsService = ReturnType<typeof statsService>;

/** More executors needing attention than people read; beyond this the counts stop too. */
const maxJudged = 500;
/** Entries of each list. */
const listed = 20;
const shownDays = 30;
const shownLags = 20;
const hourMs = 3_600_000;
const shownHours = 24;
const shownHosts = 12;
const maxWindows = 50;
const shownWindows = 3;
const foundOfEach = 10;
const maxTerms = 5;
/** The last 30 days may be this old: counting them reads every run of a month. */
const historyAgeMs = 15_000;
/** The numbers in the navigation may be this old. */
const statusAgeMs = 5_000;

type Queue = Pick<
  StatsView,
  | "updates"
  | "bad_runs"
  | "shared_failures"
  | "failing_sources"
  | "shared_source_failures"
  | "refused_credentials"
  | "upstream_outages"
  | "lost_connections"
  | "lost_targets"
  | "shared_lost_targets"
  | "awaiting"
  | "active_runs"
  | "waiting"
  | "sources"
> & {
  counts: Omit<StatsView["counts"], keyof Awaited<ReturnType<typeof inventory>>>;
};

/** What needs attention and what is in progress, over all features, with few read-only queries. */
export function statsService(options: StatsServiceOptions) {
  const { db, clock } = options;
  const { read } = db;
  let kept: { at: number; starts: readonly number[]; counted: ReturnType<typeof countHistory> } | null = null;
  let lastStatus: { at: number; view: Promise<StatusView> } | null = null;

  const reachOfAll = async (): Promise<Reaches> => {
    const now = clock.now();
    const rows = await looksOfConnections(read);
    return new Map(rows.map(({ id, name, look }) => [id, { name, reach: reachOf(look, now) }]));
  };
  const lookAtQueue = async (): Promise<Queue> => {
    const reaches = await reachOfAll();
    const isLost = (connection_id: string) => reaches.get(connection_id)?.reach.problem != null;
    const [judged, active, failing, refused, sources, outages] = await Promise.all([
      executorsToJudge(read, {
        mayNeed: (row) => isLost(row.connection_id) || mayDiffer(row, options.updateDifferences),
        limit: maxJudged,
      }),
      activeRuns(read, { limit: maxJudged }),
      failingSources(read, { limit: maxJudged }),
      refusedSources(read, { limit: listed, each: listed }),
      sourceCounts(read),
      options.outages(),
    ]);
    const running = new Set(active.map(({ run }) => run.executor_id));
    const found = sortByNeed(judged, running, options.updateDifferences, reaches, options.counted.now());
    const isAwaiting = ({ run }: ActiveRow) => run.state === "pending" && run.approval === "awaiting";
    const awaiting = active.filter(isAwaiting);
    const going = active.filter((row) => !isAwaiting(row));
    const targets = byConnection(found.lost_targets);
    const lost = found.lost_connections.length + targets.alone.length + targets.shared.length;
    const { updates, waiting } = found;
    const { alone, shared } = byCause(found.bad_runs);
    const unlike = bySharedReason(failing.map(asKnown));
    const alike = unlike.shared.reduce((sum, each) => sum + each.failing, 0);
    const failingAlone = sources.failing - sources.waiting_for_host - sources.refused - alike;
    const causes = failingAlone + unlike.shared.length + sources.refused_credentials + outages.length;
    return {
      updates: updates.slice(0, listed),
      bad_runs: alone.slice(0, listed),
      shared_failures: shared.slice(0, listed),
      waiting: waiting.slice(0, listed),
      lost_connections: found.lost_connections.slice(0, listed),
      lost_targets: targets.alone.slice(0, listed),
      shared_lost_targets: targets.shared.slice(0, listed),
      failing_sources: unlike.alone.slice(0, listed).map(failingSource),
      shared_source_failures: unlike.shared.slice(0, listed),
      refused_credentials: refusedCredentials(refused).slice(0, listed),
      upstream_outages: outages.slice(0, listed),
      awaiting: awaiting.slice(0, listed).map(activeRun),
      active_runs: going.slice(0, listed).map(activeRun),
      sources: {
        total: sources.total,
        failing: sources.failing - sources.waiting_for_host,
        waiting: outages.reduce((sum, { waiting }) => sum + waiting, 0),
        pending: sources.pending,
        last_checked_at: sources.last_checked_at,
      },
      counts: {
        needs: awaiting.length + updates.length + alone.length + shared.length + causes + lost,
        awaiting: awaiting.length,
        updates: updates.length,
        bad_runs: alone.length,
        shared_failures: shared.length,
        failing_sources: failingAlone,
        shared_source_failures: unlike.shared.length,
        refused_credentials: sources.refused_credentials,
        upstream_outages: outages.length,
        lost,
        unchecked_connections: found.lost_connections.filter(({ state }) => state === "unknown").length,
        lost_targets: targets.alone.length,
        shared_lost_targets: targets.shared.length,
        active_runs: going.length,
        waiting: waiting.length,
        unknown: found.unknown,
      },
    };
  };
  const statusOf = ({ counts, sources }: Queue): StatusView => ({
    needs: counts.needs,
    active_runs: counts.active_runs,
    sources,
  });
  const nextWindows = async (waiting: readonly PendingUpdate[], now: number): Promise<NextWindow[]> => {
    const zone = options.timezone();
    const windows = (await windowsInUse(read, { limit: maxWindows })).flatMap(({ window, executors }) => {
      const opening = options.openingOf(window, zone, now);
      if (opening === null) return [];
      const updates = waiting.filter((each) => each.waiting?.until === opening.opens_at).length;
      return [{ ...opening, is_open: opening.opens_at <= now, executors, updates }];
    });
    return windows.toSorted((a, b) => a.opens_at - b.opens_at).slice(0, shownWindows);
  };
  const countHistory = async (starts: readonly number[], now: number) => {
    const [rows, checks] = await Promise.all([runsByDay(read, starts), checksByDay(read, starts)]);
    const check_days = starts.map((starts_at, day) => {
      const found = checks.find((row) => row.day === day);
      return { starts_at, succeeded: found?.succeeded ?? 0, failed: found?.failed ?? 0 };
    });
    const days = starts.map((starts_at) => ({ starts_at, succeeded: 0, degraded: 0, failed: 0, skipped: 0 }));
    for (const row of rows) addToDay(days[row.day], row.state, row.count);
    const stopped = rows.reduce((sum, row) => sum + row.stopped, 0);
    const median_downtime_ms =
      stopped === 0 ? null : await downtimeAt(read, starts[0] ?? now, Math.floor((stopped - 1) / 2));
    return { days, check_days, median_downtime_ms };
  };
  const history = (now: number): ReturnType<typeof countHistory> => {
    const starts = dayStarts(options.timezone(), now, shownDays);
    if (kept?.starts === starts && clock.elapsed() - kept.at < historyAgeMs) return kept.counted;
    const counted = countHistory(starts, now);
    const mine = { at: clock.elapsed(), starts, counted };
    kept = mine;
    counted.catch(() => {
      if (kept === mine) kept = null;
    });
    return counted;
  };

  return {
    /** The current state; `days` and `median_downtime_ms` may be 15 seconds old. */
    get: async (): Promise<StatsView> => {
      const now = clock.now();
      const [queue, have, past] = await Promise.all([lookAtQueue(), inventory(read), history(now)]);
      lastStatus = { at: clock.elapsed(), view: Promise.resolve(statusOf(queue)) };
      return {
        ...queue,
        counts: { ...have, ...queue.counts },
        windows: await nextWindows(queue.waiting, now),
        ...past,
        setup: {
          has_connection: have.connections > 0,
          has_tracker: have.trackers > 0,
          has_executor: have.executors > 0,
          has_notifier: have.notifiers > 0,
        },
      };
    },

    /** For the charts of an executor's page. */
    executorHistory: async (id: string): Promise<ExecutorHistory> => {
      const starts = dayStarts(options.timezone(), clock.now(), shownDays);
      const [rows, updates] = await Promise.all([runsByDay(read, starts, id), updatesWithRelease(read, id, shownLags)]);
      const days = starts.map((starts_at) => ({ starts_at, succeeded: 0, failed: 0, downtime_ms: 0 }));
      for (const { day, state, count, downtime_ms } of rows) {
        const found = days[day];
        if (found === undefined) continue;
        if (state === "succeeded" || state === "degraded") found.succeeded += count;
        if (state === "failed") found.failed += count;
        found.downtime_ms += downtime_ms;
      }
      const lags = updates.map(({ ended_at, tag, published_at }) => ({
        ended_at: ended_at ?? 0,
        tag: tag ?? "",
        lag_ms: Math.max(0, (ended_at ?? 0) - published_at),
      }));
      return { days, lags: lags.toReversed() };
    },

    /** The requests of the last 24 hours, for the hosts with the most of them. */
    requestHours: async (): Promise<readonly RequestHours[]> => {
      const hour = Math.floor(clock.now() / hourMs) * hourMs;
      const starts = Array.from({ length: shownHours }, (_, index) => hour - (shownHours - 1 - index) * hourMs);
      const rows = await requestsByHour(read, starts[0] ?? hour, hour + hourMs);
      const byHost = [...Map.groupBy(rows, ({ host }) => host)].map(([host, own]) => ({
        host,
        total: own.reduce((sum, { requests }) => sum + requests, 0),
        hours: starts.map((starts_at) => ({
          starts_at,
          requests: own.find((row) => row.starts_at === starts_at)?.requests ?? 0,
        })),
      }));
      return byHost.toSorted((a, b) => b.total - a.total || (a.host < b.host ? -1 : 1)).slice(0, shownHosts);
    },

    /** The numbers on every page, shared by all pages within a few seconds. */
    status: async (): Promise<StatusView> => {
      const now = clock.elapsed();
      if (lastStatus !== null && now - lastStatus.at < statusAgeMs) return await lastStatus.view;
      const view = lookAtQueue().then(statusOf);
      lastStatus = { at: now, view };
      try {
        return await view;
      } catch (error) {
        lastStatus = null;
        throw error;
      }
    },

    /** What runs from these trackers, by their ids. */
    uses: async (trackerIds: readonly string[]): Promise<ReadonlyMap<string, readonly TrackerUse[]>> => {
      const [rows, reaches] = await Promise.all([bindingsOfTrackers(read, trackerIds), reachOfAll()]);
      return Map.groupBy(
        rows.map((row) => useOf(row, options.updateDifferences, reaches)),
        (use) => use.tracker_id,
      );
    },

    /** Trackers, executors, releases and runs with every word of `q`, at most ten each; nothing for a blank query. */
    search: async (query: unknown): Promise<SearchView> => {
      const { q } = parseInput(SearchQuery, query);
      const terms = [...new Set(q.split(/\s+/).filter((term) => term !== ""))].slice(0, maxTerms);
      if (terms.length === 0) return { query: q, terms, trackers: [], executors: [], releases: [], runs: [] };
      const [trackers, executors, releases, runs] = await Promise.all([
        searchTrackers(read, terms, foundOfEach),
        searchExecutors(read, terms, foundOfEach),
        searchReleases(read, terms, foundOfEach),
        searchRuns(read, terms, foundOfEach),
      ]);
      return {
        query: q,
        terms,
        trackers: trackers.map((each) => ({ ...each, images: v.parse(Names, JSON.parse(each.images)) })),
        executors: executors.map((each) => ({ ...each, services: v.parse(Names, JSON.parse(each.services)) })),
        releases,
        runs: runs.map(({ run, executor }) => ({ ...runFacts(run), id: run.id, executor, created_at: run.created_at })),
      };
    },
  };
}

const Names = v.array(v.string());

function useOf(
  { binding, executor }: BindingRow,
  differences: readonly ImageDifference[],
  reaches: Reaches,
): TrackerUse {
  const reach = reaches.get(executor.connection_id)?.reach ?? null;
  const observation = observationNow(executor, reach);
  const seen = observation?.services.find((each) => each.service === binding.service) ?? null;
  const difference = seen?.difference ?? null;
  const isUpdate = difference !== null && differences.includes(difference);
  const isUnknown =
    observation === null || observation.problem !== null || difference === null || difference === "unknown";
  const { found = null, desired = null } = seen ?? {};
  const target = binding.service === "main" ? executor.target_id : binding.service;
  const unknownService = seen === null ? null : (seen.unmet ?? unknownBuild(seen, target));
  return {
    tracker_id: binding.tracker_id,
    executor_id: executor.id,
    executor: executor.name,
    service: binding.service,
    channel: binding.channel,
    is_enabled: executor.is_enabled,
    current: found === null ? null : { tag: found.tag, digest: found.digest },
    desired: desired === null ? null : { tag: desired.tag, digest: desired.digest },
    behind: isUpdate ? (seen?.behind ?? null) : null,
    state: isUpdate ? "update" : isUnknown ? "unknown" : "current",
    problem: isUnknown ? (observation?.problem ?? reach?.problem ?? unknownService) : null,
  };
}

function activeRun({ executor, run }: ActiveRow): ActiveRun {
  return {
    ...executorFacts(executor),
    run_id: run.id,
    ...runFacts(run),
    progress: run.progress === null ? null : { ...run.progress },
    created_at: run.created_at,
    started_at: run.started_at,
  };
}

/** Of an unknown kind, with the reason that this version has. */
function asKnown(row: FailingRow): FailingRow {
  const unknown = kindProblem(row.kind);
  if (unknown === null) return row;
  const error = { last_error_code: unknown.code, last_error_message: unknown.said };
  return { ...row, failing_since: row.failing_since ?? row.last_checked_at, ...error };
}

function failingSource(row: FailingRow): FailingSource {
  const { tracker, source, kind, host, failing_since, last_success_at, last_checked_at, next_check_at } = row;
  return {
    ...{ tracker, source, kind, host, failing_since: failing_since ?? next_check_at },
    ...{ last_success_at, last_checked_at, next_check_at, error: errorOf(row) },
  };
}

type StoredError = Pick<FailingRow, "last_error_code" | "last_error_message">;

function errorOf({ last_error_code, last_error_message }: StoredError): FailingSource["error"] {
  return { code: last_error_code ?? "unreachable", ...told(last_error_message ?? plain("")) };
}

/** Each credential and host once, with the sources that fail because of it. */
function refusedCredentials(rows: readonly RefusedRow[]): RefusedCredential[] {
  return rows
    .filter(({ place }) => place === 1)
    .map((first) => {
      const { credential_id, credential, host, since, total } = first;
      const members = rows.filter((row) => row.credential_id === credential_id && row.host === host);
      const sources = members.map(({ tracker, source }) => ({ tracker, source }));
      return { credential_id, credential, host, since, error: errorOf(first), failing: total, sources };
    });
}

function addToDay(day: DayOfRuns | undefined, state: string, count: number): void {
  if (day === undefined) return;
  if (state === "succeeded" || state === "degraded" || state === "failed" || state === "skipped") day[state] += count;
}
