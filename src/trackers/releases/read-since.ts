import type { SourceRow } from "../source-queries.ts";

interface Dated {
  published_at: number | null;
  first_observed_at: number;
}

/** When a release came out: as published, or else when it was first seen. */
export function timeOf({ published_at, first_observed_at }: Dated): number {
  return published_at ?? first_observed_at;
}

/** When a version came out: the earliest time of any source; a published time takes precedence over an observed one. */
export function publishTime(releases: readonly Dated[]): number {
  const told = releases.flatMap(({ published_at }) => published_at ?? []);
  return Math.min(...(told.length > 0 ? told : releases.map(({ first_observed_at }) => first_observed_at)));
}

/** Whether a source was read since a version came out: only then does it say something that the source does not have it. */
export function wasReadSince(
  { last_success_at }: Pick<SourceRow, "last_success_at">,
  releases: readonly Dated[],
): boolean {
  return last_success_at !== null && last_success_at >= publishTime(releases);
}
