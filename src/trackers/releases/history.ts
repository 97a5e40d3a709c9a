import type { Database } from "../../db/client.ts";
import { parseInput } from "../../forms/issues.ts";
import { cursorKey, type ListCounts, type Page, pageSize, toPage } from "../../forms/page.ts";
import { orderTags } from "../../versions/order.ts";
import { trackerRows } from "../queries.ts";
import type { SourceRegistry } from "../schema.ts";
import { channelsOf, type SourceRow, sourcesOf } from "../source-queries.ts";
import { releasePages } from "../upstreams/web-pages.ts";
import { releaseView } from "../views.ts";
import { isBuiltFrom } from "./agreement.ts";
import { usesAppVersions } from "./display.ts";
import { releasesOf } from "./queries.ts";
import { publishTime, timeOf, wasReadSince } from "./read-since.ts";
import { leadingTags } from "./same-build.ts";
import { ReleaseQuery, type ReleaseView, type VersionView } from "./schema.ts";
import { twinsAmong } from "./stands-for.ts";

/** Commits come from git, digests from a registry. */
const isCommit = (revision: string) => /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(revision);

/** A release, and the one that its image is shown under: itself, or the one with the most specific tag. */
interface Shown {
  release: ReleaseView;
  lead: ReleaseView;
}

function underLeads(releases: readonly ReleaseView[]): Shown[] {
  const bySource = Map.groupBy(releases, (release) => release.source_key);
  return [...bySource.values()].flatMap((own) => {
    const leads = leadingTags(own);
    const byTag = new Map(own.map((release) => [release.tag, release]));
    return own.map((release) => ({ release, lead: byTag.get(leads.get(release.tag) ?? "") ?? release }));
  });
}

function toVersion(version: string, shown: readonly Shown[], sources: readonly SourceRow[]): VersionView {
  const releases = shown.map(({ release }) => release);
  const aliases = shown.filter(({ release, lead }) => release !== lead).map(({ release }) => release.tag);
  const isAlias = ({ tag }: ReleaseView) => Number(aliases.includes(tag));
  const keys = new Set(releases.map((release) => release.source_key));
  const others = sources.filter(({ key }) => !keys.has(key));
  const [missing, unread] = [true, false].map((isRead) =>
    others.filter((source) => wasReadSince(source, releases) === isRead).map(({ key }) => key),
  );
  const commit = releases.find(({ revision }) => revision !== null && isCommit(revision))?.revision ?? null;
  const built = releases.map(({ source_revision }) => isBuiltFrom(source_revision, commit)).filter((is) => is !== null);
  return {
    version,
    published_at: publishTime(releases),
    is_published: releases.some(({ published_at }) => published_at !== null),
    channels: [...new Set(releases.flatMap((release) => release.channels))],
    latest_in: [...new Set(releases.flatMap((release) => release.latest_in))],
    releases: releases.toSorted(
      (a, b) => placeIn(sources, a) - placeIn(sources, b) || isAlias(a) - isAlias(b) || timeOf(b) - timeOf(a),
    ),
    aliases: orderTags(aliases),
    missing: missing ?? [],
    unread: unread ?? [],
    build: built.length === 0 ? "unknown" : built.every((is) => is) ? "matches" : "differs",
  };
}

function placeIn(sources: readonly SourceRow[], release: ReleaseView): number {
  return sources.findIndex(({ key }) => key === release.source_key);
}

/** The options of each filter that find a version. */
const optionsOf = {
  channel: ({ channels }: VersionView) => channels,
  source: ({ releases }: VersionView) => [...new Set(releases.map(({ source_key }) => source_key))],
};
const filters = ["channel", "source"] as const;
type Asked = Partial<Record<(typeof filters)[number], string | undefined>>;

/** Those that all filters find, except one that is left out. */
function found(versions: readonly VersionView[], asked: Asked, without?: keyof Asked): VersionView[] {
  return versions.filter((version) =>
    filters.every((name) => {
      const { [name]: option } = asked;
      return name === without || option === undefined || optionsOf[name](version).includes(option);
    }),
  );
}

/** How many versions each option of a filter would leave, with the other one as it is. */
function countsOf(versions: readonly VersionView[], asked: Asked): ListCounts {
  return Object.fromEntries(
    filters.map((name) => {
      const own = found(versions, asked, name);
      const options = Map.groupBy(own.flatMap(optionsOf[name]), (option) => option);
      const counted = [...options].map(([option, { length }]) => [option, length] as const);
      return [name, { "": own.length, ...Object.fromEntries(counted) }];
    }),
  );
}

/** A tracker's history by version, with all its sources for each. */
export function versionHistory({ db, registry }: { db: Database; registry: SourceRegistry }) {
  return {
    /** Last published first. `query`: `cursor`, `limit`, `channel`, `source`. */
    versions: async (name: string, query: unknown): Promise<Page<VersionView>> => (await read(name, query)).page,

    /** The same, with what the filters would leave. */
    history: async (name: string, query: unknown): Promise<Page<VersionView> & { counts: ListCounts }> => {
      const { page, all, parsed } = await read(name, query);
      return { ...page, counts: countsOf(all, parsed) };
    },
  };

  async function read(name: string, query: unknown) {
    const parsed = parseInput(ReleaseQuery, query);
    const tracker = await trackerRows.getByName(db.read, name);
    const sources = await sourcesOf(db.read, [tracker.id]);
    const ids = sources.map((source) => source.id);
    const channels = await channelsOf(db.read, ids);
    const byApplication = usesAppVersions(sources);
    const keys = new Map(sources.map(({ id, key }) => [id, key]));
    const pages = releasePages(registry, sources);
    const rows = await releasesOf(db.read, ids);
    const twins = twinsAmong(rows);
    const views = rows.map((row) =>
      releaseView(row, {
        tracker: name,
        source_key: keys.get(row.source_id) ?? "",
        channels: channels.filter((channel) => channel.source_id === row.source_id),
        by_application: byApplication,
        twins,
        pages,
      }),
    );
    const shown = views.filter((view) => view.channels.length > 0);
    const groups = Map.groupBy(underLeads(shown), ({ lead }) => lead.display_version);
    const all = [...groups].map(([version, releases]) => toVersion(version, releases, sources));
    const versions = found(all, parsed);
    const places = new Map(orderTags(versions.map(({ version }) => version)).map((version, place) => [version, place]));
    const place = ({ version }: VersionView) => places.get(version) ?? 0;
    versions.sort((a, b) => b.published_at - a.published_at || place(a) - place(b));
    const after = cursorKey(parsed);
    const last = after === null ? -1 : versions.findIndex(({ version }) => version === after);
    const rest = versions.slice(last + 1);
    const page = toPage(
      rest.slice(0, pageSize(parsed) + 1),
      parsed,
      ({ version }) => version,
      (version) => version,
    );
    return { page, all, parsed };
  }
}
