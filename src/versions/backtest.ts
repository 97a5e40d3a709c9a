import { classify, isPrerelease } from "./classify.ts";
import { isDowngrade } from "./order.ts";
import { isOnward, moveBetween } from "./running-tag.ts";

/** What kind of step it would have been from the latest before. */
export const jumps = ["first", "none", "downgrade", "prerelease", "variant", "incomparable"] as const;
export type Jump = (typeof jumps)[number];

/** A day on which a channel would have called another version its latest. */
export interface BacktestStep {
  tag: string;
  previous: string | null;
  /** Milliseconds UTC. */
  at: number;
  jump: Jump;
  /** What an automatic run would have had before: that differs from `previous` after a step that none would take. */
  installed_from: string | null;
  /** Whether an automatic run would have taken it: never to a lower or an incomparable version, nor to another line or variant. */
  is_installed: boolean;
}

interface PublishedRelease {
  tag: string;
  published_at: number | null;
}

/**
 * Plays a channel's releases day by day: each is published at its time, and `choose` says what the latest of those so far is. Gives
 * every change of the latest, the oldest first. Releases without a time have no day and take no part. The work grows with the
 * square of the list: a few hundred at most.
 */
export function backtest<T extends PublishedRelease>(
  releases: readonly T[],
  choose: (published: readonly T[]) => T | null,
): BacktestStep[] {
  const ordered = releases
    .flatMap((release) => (release.published_at === null ? [] : [{ release, at: release.published_at }]))
    .sort((a, b) => a.at - b.at);
  const published: T[] = [];
  const steps: BacktestStep[] = [];
  let previous: string | null = null;
  let installed: string | null = null;
  for (const { release, at } of ordered) {
    published.push(release);
    const latest = choose(published);
    if (latest === null || latest.tag === previous) continue;
    const isInstalled = installed === null || isOnward(moveBetween(installed, latest.tag, ""));
    steps.push({
      tag: latest.tag,
      previous,
      at,
      jump: jumpBetween(previous, latest.tag),
      installed_from: installed,
      is_installed: isInstalled,
    });
    previous = latest.tag;
    if (isInstalled) installed = latest.tag;
  }
  return steps;
}

/** The surprise in going from one tag to another, the worst first. */
export function jumpBetween(from: string | null, to: string): Jump {
  if (from === null) return "first";
  const [before, after] = [classify(from), classify(to)];
  if (before.variant !== after.variant) return "variant";
  const isBack = isDowngrade(from, to);
  if (isBack === null) return "incomparable";
  if (isBack) return "downgrade";
  return isPrerelease(after) && !isPrerelease(before) ? "prerelease" : "none";
}
