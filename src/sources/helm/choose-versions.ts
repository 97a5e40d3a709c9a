import { orderTags } from "../../versions/order.ts";
import { acceptedOf } from "../accepted.ts";
import { highestTags } from "../oci/highest-tags.ts";
import { sharePlaces } from "../places.ts";
import type { ListRequest, UpstreamRelease } from "../source.ts";
import { type ChartVersion, isPrerelease } from "./chart-version.ts";

/** The stage of a version, by its name. */
function stageOf(version: string): "release" | "prerelease" {
  return isPrerelease(version) ? "prerelease" : "release";
}

interface Choice {
  /** Every version that upstream has. */
  versions: readonly string[];
  /** Publish time, if known. */
  createdAt: (version: string) => number | null;
  /** Versions that were not listed before. */
  appeared: ReadonlySet<string>;
}

/**
 * The versions that a check returns: the watched ones, then for each channel up to `limit` of the new ones, then the highest and the
 * latest in turns: the tracker uses one of these two orders.
 */
export async function chooseVersions(
  { versions, createdAt, appeared }: Choice,
  request: ListRequest,
): Promise<readonly string[]> {
  const present = new Set(versions);
  const groups: (readonly string[])[] = [];
  for (const accept of request.accepts) {
    const accepted = await acceptedOf(versions, (version) => accept(version, stageOf(version)));
    const fresh = accepted.filter((version) => appeared.has(version) && !request.known.has(version));
    const highest = highestTags(accepted, request.limit);
    const latest = accepted
      .map((version) => ({ version, at: createdAt(version) ?? Number.NEGATIVE_INFINITY }))
      .filter(({ at }) => at !== Number.NEGATIVE_INFINITY)
      .toSorted((a, b) => b.at - a.at)
      .slice(0, request.limit)
      .map(({ version }) => version);
    const turns = highest.flatMap((version, turn) => [version, ...latest.slice(turn, turn + 1)]);
    groups.push([...new Set([...orderTags(fresh), ...turns])]);
  }
  const leading = sharePlaces(groups, request.limit, request.most_each);
  return [...new Set([...request.watch.filter((version) => present.has(version)), ...leading])];
}

/** A version as a release. `appeared` is null on a first check. */
export function toRelease(
  chart: ChartVersion,
  request: ListRequest,
  appeared: ReadonlySet<string> | null,
): UpstreamRelease {
  const { version } = chart;
  return {
    version,
    tag: version,
    stage: stageOf(version),
    published_at: chart.created_at,
    revision: chart.digest,
    url: chart.url,
    notes: chart.notes,
    app_version: chart.app_version,
    is_deprecated: chart.is_deprecated,
    ...(appeared === null || request.known.has(version) ? {} : { appeared: appeared.has(version) }),
  };
}
