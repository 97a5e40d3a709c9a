import type { Reader } from "../db/client.ts";
import { viewOf } from "../forms/view.ts";
import { plain, told, toldAs } from "../messages/message.ts";
import type { Problem } from "../messages/schema.ts";
import { type CheckCost, type CostTerms, isSourceKind } from "../sources/source.ts";
import { classify } from "../versions/classify.ts";
import { maturityOf } from "../versions/maturity.ts";
import type { BoundExecutor, BoundExecutors } from "./bound-executors.ts";
import { storedNotesSettings } from "./notes/settings.ts";
import type { TrackerRow } from "./queries.ts";
import { displayVersion, usesAppVersions } from "./releases/display.ts";
import { channelNamesOf } from "./releases/judge.ts";
import { remarkOn } from "./releases/newest.ts";
import { type ReleaseFactsRow, releasesByIds } from "./releases/queries.ts";
import type { ReleaseView } from "./releases/schema.ts";
import { findTwins, standsFor, type Twins } from "./releases/stands-for.ts";
import { ChannelView, kindProblem, LatestView, type SourceState, SourceView, type TrackerView } from "./schema.ts";
import { type ChannelRow, channelsOf, type SourceRow, sourcesOf } from "./source-queries.ts";
import type { OutageRow } from "./upstreams/outage-queries.ts";
import type { RateState } from "./upstreams/stored-responses.ts";
import type { ReleasePages } from "./upstreams/web-pages.ts";

const isUnknown = ({ kind }: SourceRow) => !isSourceKind(kind);

export function stateOf(source: SourceRow, now: number): SourceState {
  if (isUnknown(source)) return "failing";
  if (source.lease_until !== null && source.lease_until > now) return "checking";
  if (source.last_checked_at === null) return "pending";
  return source.last_error_code === null ? "ok" : "failing";
}

export function errorOf(source: SourceRow): Problem | null {
  const unknown = kindProblem(source.kind);
  if (unknown !== null) return { code: unknown.code, ...told(unknown.said) };
  if (source.last_error_code === null) return null;
  return { code: source.last_error_code, ...told(source.last_error_message ?? plain("")) };
}

const worstFirst: readonly SourceState[] = ["failing", "checking", "pending", "ok"];

function channelView(
  channel: ChannelRow,
  latest: ReleaseFactsRow | undefined,
  { byApplication, twins }: { byApplication: boolean; twins: Twins },
): ChannelView {
  if (latest === undefined) return viewOf(ChannelView, { ...channel, latest: null });
  const view = viewOf(LatestView, {
    ...latest,
    display_version: displayVersion(latest, byApplication),
    stands_for: standsFor(latest, twins),
    remark: remarkOn(latest, channel.newest),
  });
  return viewOf(ChannelView, { ...channel, latest: view });
}

type OwnerFacts = Pick<TrackerRow, "is_enabled" | "check_interval_minutes" | "release_fallback">;

/** The time, and what upstreams allow then. */
interface ViewContext {
  now: number;
  rates: readonly RateState[];
  /** The hosts that do not respond. */
  outages: readonly Pick<OutageRow, "host" | "next_due_at">[];
  executors: BoundExecutors;
  /** The requests of an unchanged check. */
  costOf: (kind: string, config: unknown, terms: CostTerms) => CheckCost;
}

const hourMinutes = 60;

function loadOf(source: SourceRow, tracker: OwnerFacts, channel_count: number, { costOf }: ViewContext) {
  const terms = {
    has_credential: source.credential_id !== null,
    has_fallback: tracker.release_fallback,
    channel_count,
  };
  const cost = costOf(source.kind, source.config ?? {}, terms);
  const checks = tracker.is_enabled ? hourMinutes / tracker.check_interval_minutes : 0;
  return { requests_per_hour: cost.requests * checks, quota_per_hour: cost.quota * checks };
}

/**
 * Until when a due check waits for its upstream's rate limit, or for the next attempt at a host that does not respond; null when it need
 * not wait. A requested check waits for the limit alone.
 */
function waitOf(source: SourceRow, tracker: OwnerFacts, { now, rates, outages }: ViewContext): number | null {
  const due = tracker.is_enabled ? (source.check_requested_at ?? source.next_check_at) : source.check_requested_at;
  if (due === null) return null;
  const rate = rates.find(({ host, credential_id }) => host === source.host && credential_id === source.credential_id);
  const outage = source.check_requested_at === null ? outages.find(({ host }) => host === source.host) : undefined;
  const until = Math.max(rate?.blocked_until ?? 0, outage?.next_due_at ?? 0);
  return until > now && due < until ? until : null;
}

/** As `waitsForHost` says it of rows; one of an unknown kind waits for nothing. */
function isHostAway(source: SourceRow, { is_enabled }: OwnerFacts, { outages }: ViewContext): boolean {
  const outage = outages.find(({ host }) => host === source.host);
  const isOther = source.last_error_code !== null && source.last_error_code !== "unreachable";
  return (
    !isUnknown(source) && is_enabled && outage !== undefined && !isOther && source.next_check_at <= outage.next_due_at
  );
}

function sourceView(
  source: SourceRow,
  tracker: OwnerFacts,
  channels: readonly ChannelView[],
  context: ViewContext,
): SourceView {
  const { now } = context;
  return viewOf(SourceView, {
    ...source,
    config: { ...source.config },
    channels: [...channels],
    state: stateOf(source, now),
    error: errorOf(source),
    next_check_at: tracker.is_enabled ? (source.check_requested_at ?? source.next_check_at) : source.check_requested_at,
    ...loadOf(source, tracker, channels.length, context),
    waits_until: waitOf(source, tracker, context),
    is_host_away: isHostAway(source, tracker, context),
  });
}

function executorViews(bound: readonly BoundExecutor[], sources: readonly SourceView[]): TrackerView["executors"] {
  return bound.map(({ id, name, service, source_id, channel }) => ({
    id,
    name,
    service,
    source_key: sources.find((source) => source.id === source_id)?.key ?? "",
    channel,
  }));
}

/** Trackers for the API, with one query per kind of row however many there are. */
export async function trackerViews(
  read: Reader,
  rows: readonly TrackerRow[],
  context: ViewContext,
): Promise<TrackerView[]> {
  const trackerIds = rows.map((row) => row.id);
  const sources = await sourcesOf(read, trackerIds);
  const channels = await channelsOf(
    read,
    sources.map((source) => source.id),
  );
  const latest = await releasesByIds(
    read,
    channels.map((channel) => channel.latest_release_id).filter((id) => id !== null),
  );
  const latestById = new Map(latest.map((release) => [release.id, release]));
  const twins = await findTwins(read, latest);
  const bound = await context.executors.ofTrackers(read, trackerIds);
  return rows.map((row) => {
    const ownSources = sources.filter((source) => source.tracker_id === row.id);
    const byApplication = usesAppVersions(ownSources);
    const views = ownSources.map((source) => {
      const own = channels.filter((channel) => channel.source_id === source.id);
      const views = own.map((channel) =>
        channelView(channel, latestById.get(channel.latest_release_id ?? ""), { byApplication, twins }),
      );
      return sourceView(source, row, views, context);
    });
    return {
      ...row,
      release_notes: storedNotesSettings(row.release_notes),
      sources: views,
      state: worstFirst.find((state) => views.some((view) => view.state === state)) ?? "ok",
      executors: executorViews(
        bound.filter((executor) => executor.tracker_id === row.id),
        views,
      ),
    };
  });
}

/** A release for the API, judged by its source's current channels. */
export function releaseView(
  row: ReleaseFactsRow,
  context: {
    tracker: string;
    source_key: string;
    channels: readonly ChannelRow[];
    by_application: boolean;
    twins: Twins;
    pages: ReleasePages;
  },
): ReleaseView {
  const { source_id: _, notes_digest, notes_error, ...facts } = row;
  const ledBy = context.channels.filter((channel) => channel.latest_release_id === row.id);
  return {
    ...facts,
    ...toldAs("notes_error", notes_error),
    has_notes: notes_digest !== null,
    display_version: displayVersion(row, context.by_application),
    stands_for: standsFor(row, context.twins),
    maturity: maturityOf(classify(row.tag), row.stage === "prerelease"),
    tracker: context.tracker,
    source_key: context.source_key,
    web_url: context.pages.of(row),
    channels: channelNamesOf(row, context.channels),
    latest_in: ledBy.map((channel) => channel.name),
    remark: remarkOn(row, ledBy[0]?.newest ?? null),
  };
}
