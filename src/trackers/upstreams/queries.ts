import { and, eq } from "drizzle-orm";
import type { Reader } from "../../db/client.ts";
import { releases, tracker_channels, tracker_sources, trackers } from "../../db/tables/trackers.ts";

/** More than this are not added up. */
const maxSourcesRead = 20_000;

export interface CheckedSource {
  kind: string;
  config: Readonly<Record<string, unknown>> | null;
  host: string;
  credential_id: string | null;
  check_interval_minutes: number;
  release_fallback: boolean;
  channel_count: number;
}

/** Every source that is checked by itself. */
export async function listCheckedSources(read: Reader): Promise<CheckedSource[]> {
  return await read
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
    .limit(maxSourcesRead);
}

/** More than this of one upstream's past are not played. */
const maxTimesRead = 5_000;

export interface StoredTimes {
  /** By tag: when it was published, or else first seen after the first check. */
  by_tag: ReadonlyMap<string, number>;
  /** The first check, at which all other versions were there; null where upstream told the publish time of any: then nobody knows theirs. */
  baseline_at: number | null;
}

/** The times of what sources with this address have. */
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
      // What was there at the first check was published at some time before: that says no day.
      const seen = baseline_at !== null && first_observed_at > baseline_at ? first_observed_at : null;
      const at = published_at ?? seen;
      return at === null ? [] : [[tag, at] as const];
    }),
  );
  return { by_tag, baseline_at: isTold || baselines.length === 0 ? null : Math.min(...baselines) };
}
