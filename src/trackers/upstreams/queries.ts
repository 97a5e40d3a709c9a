import { and, eq, sql } from "drizzle-orm";
import type { Reader } from "../../db/client.ts";
import { listsOfValues } from "../../db/listing.ts";
import { rowsOfPrepared } from "../../db/prepared.ts";
import { releases, tracker_channels, tracker_sources, trackers } from "../../db/tables/trackers.ts";
import type { UpstreamView } from "./schema.ts";

/** An upstream, with its place among all of them when they are sorted by state. */
type ListedUpstream = UpstreamView & { id: string; place: number };

const account = sql`coalesce((select name from credentials where id = listed.value ->> 'credential_id'), '')`;

/** Unknown values come last in the column's default order. */
export const upstreamLists = listsOfValues<ListedUpstream>({
  sorts: {
    state: "listed.value ->> 'place'",
    host: "listed.value ->> 'host'",
    account,
    sources: "listed.value ->> 'sources'",
    requests: "listed.value ->> 'requests_per_hour'",
    limit: "coalesce(listed.value ->> 'hourly_limit', -1)",
    remaining: "coalesce(listed.value ->> 'remaining', 9e15)",
  },
  filters: { state: sql`listed.value ->> 'state'` },
  searched: [sql`listed.value ->> 'host'`, account],
});

/** Sources beyond this are not counted. */
const maxSourcesRead = 20_000;

/** Every source with automatic checks. */
export const listCheckedSources = rowsOfPrepared((read) =>
  read
    .select({
      kind: tracker_sources.kind,
      config: tracker_sources.config,
      host: tracker_sources.host,
      credential_id: tracker_sources.credential_id,
      check_interval_minutes: trackers.check_interval_minutes,
      release_fallback: trackers.release_fallback,
      channel_count: read.$count(tracker_channels, eq(tracker_channels.source_id, tracker_sources.id)),
    })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(eq(trackers.is_enabled, true))
    .limit(maxSourcesRead),
);

/** Times of one upstream beyond this are not replayed. */
const maxTimesRead = 5_000;

export interface StoredTimes {
  /** By tag: when it was published, or else first seen after the first check. */
  by_tag: ReadonlyMap<string, number>;
  /** The first check, when all other versions already existed; null when upstream gave any publish time: then theirs are unknown. */
  baseline_at: number | null;
}

/** The stored times of sources with this address. */
export async function storedTimes(
  read: Reader,
  kind: string,
  config: Readonly<Record<string, unknown>>,
): Promise<StoredTimes> {
  const rows = await read
    .select({
      tag: releases.tag,
      published_at: releases.published_at,
      first_observed_at: releases.first_observed_at,
      baseline_at: tracker_sources.baseline_at,
    })
    .from(releases)
    .innerJoin(tracker_sources, eq(tracker_sources.id, releases.source_id))
    .where(and(eq(tracker_sources.kind, kind), eq(tracker_sources.config, { ...config })))
    .limit(maxTimesRead);
  const baselines = rows.flatMap(({ baseline_at }) => baseline_at ?? []);
  const isTold = rows.some(({ published_at }) => published_at !== null);
  const by_tag = new Map(
    rows.flatMap(({ tag, published_at, first_observed_at, baseline_at }) => {
      // Versions found by the first check were published at an unknown earlier time.
      const seen = baseline_at !== null && first_observed_at > baseline_at ? first_observed_at : null;
      const at = published_at ?? seen;
      return at === null ? [] : [[tag, at] as const];
    }),
  );
  return { by_tag, baseline_at: isTold || baselines.length === 0 ? null : Math.min(...baselines) };
}
