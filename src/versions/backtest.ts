import { classify, isPrerelease } from "./classify.ts";
import { isDowngrade } from "./order.ts";
import { isOnward, moveBetween } from "./running-tag.ts";

/** The kind of step from the previous latest. */
export const jumps = ["first", "none", "downgrade", "prerelease", "variant", "incomparable"] as const;
export type Jump = (typeof jumps)[number];

/** A day on which a channel would have changed its latest. */
export interface BacktestStep {
  tag: string;
  previous: string | null;
  /** Milliseconds UTC. */
  at: number;
  jump: Jump;
  /** What an automatic run would have had before; differs from `previous` after a step it would not take. */
  installed_from: string | null;
  /** Whether an automatic run would have taken it: never to a lower or incomparable version, nor to another line or variant. */
  is_installed: boolean;
}

interface PublishedRelease {
  tag: string;
  published_at: number | null;
}

/**
 * Replays a channel's releases day by day: each is published at its time, and `choose` picks the latest of those so far. Returns every
 * change of the latest, oldest first. Ignores releases without a time. Quadratic: a few hundred at most.
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

/** The kind of step from one tag to another, the riskiest first. */
export function jumpBetween(from: string | null, to: string): Jump {
  if (from === null) return "first";
  const [before, after] = [classify(from), classify(to)];
  if (before.variant !== after.variant) return "variant";
  const isBack = isDowngrade(from, to);
  if (isBack === null) return "incomparable";
  if (isBack) return "downgrade";
  return isPrerelease(after) && !isPrerelease(before) ? "prerelease" : "none";
}
