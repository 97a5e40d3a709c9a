import type { ReleaseRemark } from "../../notifications/schema.ts";
import { STALE_AFTER_MS } from "../../versions/left-behind.ts";
import { olderThan } from "../../versions/older-lines.ts";
import { type AimedChannel, latestOfChannel } from "./judge.ts";
import type { ReleaseFactsRow } from "./queries.ts";
import { timeOf } from "./read-since.ts";

export type NamedVersion = Pick<ReleaseFactsRow, "tag" | "version">;

/**
 * Versions that still count besides a channel's latest. A higher number without a release for a year was abandoned: the project started
 * counting again.
 */
export function livingBeside(latest: ReleaseFactsRow, candidates: readonly ReleaseFactsRow[]): ReleaseFactsRow[] {
  const since = timeOf(latest) - STALE_AFTER_MS;
  return candidates.filter((row) => timeOf(row) >= since);
}

/** The highest version besides a channel's latest; the latest itself when no higher one counts. */
export function newestBeside(
  latest: ReleaseFactsRow,
  candidates: readonly ReleaseFactsRow[],
  channel: AimedChannel,
): ReleaseFactsRow {
  return latestOfChannel(livingBeside(latest, candidates), channel, "semantic") ?? latest;
}

/** Why a version is not the newest although it came last; null when it is, or when the newest is unknown. */
export function remarkOn({ tag }: { tag: string }, newest: NamedVersion | null): ReleaseRemark | null {
  const code = newest === null ? null : olderThan(tag, newest.tag);
  return newest === null || code === null ? null : { code, params: { newest: newest.version } };
}
