import * as v from "valibot";
import type { Clock } from "../../clock.ts";
import type { Database, Reader } from "../../db/client.ts";
import { notFound } from "../../errors.ts";
import { parseInput } from "../../forms/issues.ts";
import { cursorKey, type Page, PageQuery, pageSize, toPage } from "../../forms/page.ts";
import { orderTags } from "../../versions/order.ts";
import { ExplanationQuery, type ExplanationView } from "../previews/schema.ts";
import { type TrackerRow, trackerRows } from "../queries.ts";
import type { SourceRegistry } from "../schema.ts";
import { type ChannelRow, channelsOf, type SourceRow, sourceRows, sourcesOf } from "../source-queries.ts";
import { type ReleasePages, releasePages } from "../upstreams/web-pages.ts";
import { releaseView } from "../views.ts";
import { agreedReleases } from "./agreement.ts";
import { usesAppVersions } from "./display.ts";
import { choicesOf, judgeRelease, membersOf } from "./judge.ts";
import { listReleasesBefore, type ReleaseFactsRow, type ReleasePosition, releaseRows, releasesOf } from "./queries.ts";
import { timeOf } from "./read-since.ts";
import { digestOf } from "./same-build.ts";
import { type ReleaseDetailView, ReleaseQuery, type ReleaseView } from "./schema.ts";
import { findTwins, type Twins, twinsAmong } from "./stands-for.ts";

/** How many batches a page over all trackers may read to find releases that a channel still takes. */
const maxBatches = 20;

interface ChannelChoice {
  /** The channel's latest that is old enough; null when there is none. */
  release: (ReleaseFactsRow & { digest: string | null }) | null;
  /** When the first newer one reaches the minimum age; null when none waits. */
  ready_at: number | null;
}

function positionKey(at: number, id: string): string {
  return `${at} ${id}`;
}

function parsePosition(key: string | null): { at: number; id: string } | null {
  const [at = "", id = ""] = key?.split(" ", 2) ?? [];
  return /^-?\d{1,16}$/.test(at) ? { at: Number(at), id } : null;
}

interface Context {
  sources: readonly SourceRow[];
  channels: readonly ChannelRow[];
  rows: readonly ReleaseFactsRow[];
}

/** Stored releases, judged by the current channels. Never contacts an upstream. */
export function releaseLookup({
  db,
  clock,
  registry,
  versionHistoryCount,
}: {
  db: Database;
  registry: SourceRegistry;
  clock: Clock;
  versionHistoryCount: (read: Reader) => Promise<number>;
}) {
  const getSourceRow = async (id: string): Promise<{ source: SourceRow; tracker: TrackerRow }> => {
    const source = await sourceRows.find(db.read, id);
    const tracker = source === null ? null : await trackerRows.find(db.read, source.tracker_id);
    if (source === null || tracker === null) throw notFound("source", id);
    return { source, tracker };
  };
  const contexts = async (tracker: TrackerRow): Promise<Context> => {
    const sources = await sourcesOf(db.read, [tracker.id]);
    const ids = sources.map((source) => source.id);
    const channels = await channelsOf(db.read, ids);
    return { sources, channels, rows: await releasesOf(db.read, ids) };
  };
  /** The candidates for a channel's latest, the first choice first. */
  const candidates = async (sourceId: string, name: string): Promise<ReleaseFactsRow[]> => {
    const { tracker } = await getSourceRow(sourceId);
    const channel = (await channelsOf(db.read, [sourceId])).find((own) => own.name === name);
    if (channel === undefined) return [];
    if (!channel.requires_agreement) return choicesOf(await releasesOf(db.read, [sourceId]), channel, tracker.sorting);
    const { sources, channels, rows } = await contexts(tracker);
    const own = rows.filter((row) => row.source_id === sourceId);
    return choicesOf(agreedReleases(own, channel, { sources, channels, releases: rows }), channel, tracker.sorting);
  };
  const viewIn = (
    row: ReleaseFactsRow,
    {
      tracker,
      source,
      sources,
      channels,
      twins,
      pages,
    }: { tracker: TrackerRow; source: SourceRow; twins: Twins; pages: ReleasePages } & Pick<
      Context,
      "sources" | "channels"
    >,
  ) =>
    releaseView(row, {
      tracker: tracker.name,
      source_key: source.key,
      channels: channels.filter((channel) => channel.source_id === source.id),
      by_application: usesAppVersions(sources),
      twins,
      pages,
    });

  /** Views of rows of any trackers, without those that no channel takes. */
  const visibleViews = async (
    rows: readonly ReleaseFactsRow[],
  ): Promise<{ row: ReleaseFactsRow; view: ReleaseView }[]> => {
    const found: { row: ReleaseFactsRow; view: ReleaseView }[] = [];
    const sourceIds = [...new Set(rows.map((row) => row.source_id))];
    const channels = await channelsOf(db.read, sourceIds);
    const owners = new Map(await Promise.all(sourceIds.map(async (id) => [id, await getSourceRow(id)] as const)));
    const trackerIds = [...new Set([...owners.values()].map(({ tracker }) => tracker.id))];
    const sources = await sourcesOf(db.read, trackerIds);
    const twins = await findTwins(db.read, rows);
    const pages = releasePages(registry, sources);
    for (const row of rows) {
      const owner = owners.get(row.source_id);
      if (owner === undefined) continue;
      const own = sources.filter((source) => source.tracker_id === owner.tracker.id);
      const view = viewIn(row, { ...owner, sources: own, channels, twins, pages });
      if (view.channels.length > 0) found.push({ row, view });
    }
    return found;
  };

  return {
    /** A tracker's history, last published first. `query`: `cursor`, `limit`, `channel`, `source`. */
    releases: async (name: string, query: unknown): Promise<Page<ReleaseView>> => {
      const parsed = parseInput(ReleaseQuery, query);
      const tracker = await trackerRows.getByName(db.read, name);
      const { sources, channels, rows } = await contexts(tracker);
      const byId = new Map(sources.map((source) => [source.id, source]));
      const twins = twinsAmong(rows);
      const pages = releasePages(registry, sources);
      const found = rows
        .flatMap((row) => {
          const source = byId.get(row.source_id);
          if (source === undefined || (parsed.source !== undefined && source.key !== parsed.source)) return [];
          return [{ row, at: timeOf(row), view: viewIn(row, { tracker, source, sources, channels, twins, pages }) }];
        })
        .filter(({ view }) =>
          parsed.channel === undefined ? view.channels.length > 0 : view.channels.includes(parsed.channel),
        );
      // Releases found by a first check share one time, so they are ordered by version.
      const places = new Map(orderTags(found.map(({ row }) => row.tag)).map((tag, place) => [tag, place]));
      const place = (row: ReleaseFactsRow) => places.get(row.tag) ?? 0;
      found.sort((a, b) => b.at - a.at || place(a.row) - place(b.row) || (a.row.id < b.row.id ? 1 : -1));
      const after = parsePosition(cursorKey(parsed));
      const last = found.findIndex(({ row }) => row.id === after?.id);
      // The last release of the previous page may have been removed since.
      const rest = last >= 0 ? found.slice(last + 1) : found.filter(({ at }) => after === null || at < after.at);
      return toPage(
        rest.slice(0, pageSize(parsed) + 1),
        parsed,
        ({ at, row }) => positionKey(at, row.id),
        ({ view }) => view,
      );
    },

    /** Over all trackers, last observed first. */
    recentReleases: async (query: unknown): Promise<Page<ReleaseView>> => {
      const parsed = parseInput(PageQuery, query);
      const size = pageSize(parsed);
      const start = parsePosition(cursorKey(parsed));
      let position: ReleasePosition | null = start === null ? null : { first_observed_at: start.at, id: start.id };
      const found: { row: ReleaseFactsRow; view: ReleaseView }[] = [];
      for (let batch = 0; batch < maxBatches && found.length <= size; batch++) {
        const rows = await listReleasesBefore(db.read, position, size + 1);
        found.push(...(await visibleViews(rows)));
        const last = rows.at(-1);
        if (last === undefined || rows.length <= size) break;
        position = { first_observed_at: last.first_observed_at, id: last.id };
      }
      return toPage(
        found.slice(0, size + 1),
        parsed,
        ({ row }) => positionKey(row.first_observed_at, row.id),
        ({ view }) => view,
      );
    },

    /** One release with its notes, by its id. */
    getRelease: async (name: string, id: string): Promise<ReleaseDetailView> => {
      const tracker = await trackerRows.getByName(db.read, name);
      const row = await releaseRows.find(db.read, id);
      const { sources, channels, rows } = await contexts(tracker);
      const source = sources.find((own) => own.id === row?.source_id);
      if (row === null || source === undefined) throw notFound("release", id);
      const { notes, ...facts } = row;
      const context = { twins: twinsAmong(rows), pages: releasePages(registry, sources) };
      return { ...viewIn(facts, { tracker, source, sources, channels, ...context }), notes };
    },

    /** Why a tag is, or is not, in each channel: every rule's verdict, and its rank. */
    explain: async (name: string, query: unknown): Promise<ExplanationView> => {
      const { tag } = parseInput(v.object(ExplanationQuery.entries), query);
      const tracker = await trackerRows.getByName(db.read, name);
      const { sources, channels, rows } = await contexts(tracker);
      const twins = twinsAmong(rows);
      const pages = releasePages(registry, sources);
      return {
        tracker: tracker.name,
        tag,
        sources: sources.map((source) => {
          const own = rows.filter((row) => row.source_id === source.id);
          const row = own.find((release) => release.tag === tag) ?? null;
          return {
            key: source.key,
            release: row === null ? null : viewIn(row, { tracker, source, sources, channels, twins, pages }),
            channels: channels
              .filter((channel) => channel.source_id === source.id)
              .map((channel) => {
                const agreed = agreedReleases(own, channel, { sources, channels, releases: rows });
                const ordered = membersOf(agreed, channel, tracker.sorting);
                const place = row === null ? -1 : ordered.indexOf(row);
                const judgement = judgeRelease(row ?? { tag, stage: "tag" }, channel);
                return {
                  name: channel.name,
                  type: channel.type,
                  ...judgement,
                  waits_for_agreement: judgement.accepted && row !== null && !agreed.includes(row),
                  rank: place === -1 ? null : place + 1,
                  latest: ordered[0]?.tag ?? null,
                };
              }),
          };
        }),
      };
    },

    /**
     * The release that a channel wants: its latest, or with a minimum age the newest one known for that long (a republished tag counts from
     * its republishing).
     */
    desiredRelease: async (
      sourceId: string,
      channel: string,
      wanted: { minimum_age_ms?: number } = {},
    ): Promise<ChannelChoice> => {
      const ordered = await candidates(sourceId, channel);
      const minimumAge = wanted.minimum_age_ms ?? 0;
      const readyAt = (row: ReleaseFactsRow) =>
        minimumAge === 0 ? 0 : Math.max(row.first_observed_at, row.republished_at ?? 0) + minimumAge;
      const place = ordered.findIndex((row) => readyAt(row) <= clock.now());
      const found = ordered[place];
      const waiting = (place === -1 ? ordered : ordered.slice(0, place)).map(readyAt);
      return {
        release: found === undefined ? null : { ...found, digest: digestOf(found.revision) },
        ready_at: waiting.length === 0 ? null : Math.min(...waiting),
      };
    },

    /** Everything that is stored of a channel, the latest first. */
    knownVersions: async (sourceId: string, channel: string) => {
      const { tracker } = await getSourceRow(sourceId);
      const own = (await channelsOf(db.read, [sourceId])).find(({ name }) => name === channel);
      const rows = own === undefined ? [] : membersOf(await releasesOf(db.read, [sourceId]), own, tracker.sorting);
      return {
        versions: rows.map(({ tag, app_version, revision, stage, published_at, first_observed_at, ...size }) => ({
          ...{ tag, app_version, published_at, first_observed_at },
          ...{ size_bytes: size.size_bytes, size_platform: size.size_platform },
          digest: digestOf(revision),
          is_prerelease: stage === "prerelease",
        })),
        depth: tracker.fetch_depth,
        keep: await versionHistoryCount(db.read),
      };
    },
  };
}
