import type { StatsView } from "../../src/stats/schema.ts";
import { formatList } from "../format.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** Executors whose targets are down and that are named. */
const namedDown = 3;
const setupSteps = ["has_connection", "has_executor"] as const;

export function stepsLeft({ setup }: Pick<StatsView, "setup">): number {
  return setupSteps.filter((step) => !setup[step]).length;
}

/** The situation in one sentence, what is broken first: "1 source failing, 3 updates need approval". */
export function headline(ctx: PageContext, stats: StatsView): string {
  const t = texts(ctx).overview.headline;
  const { counts, bad_runs, shared_failures, shared_lost_targets, sources } = stats;
  // Lists end where counts go on.
  const shared = shared_failures.reduce((sum, { run_count }) => sum + run_count, 0);
  const sharedDown = shared_failures.filter(({ is_down }) => is_down);
  const downAlone = bad_runs.filter(({ serving }) => serving === "none");
  const down = [...downAlone, ...sharedDown.flatMap(({ runs }) => runs)];
  const downCount = downAlone.length + sharedDown.reduce((sum, { run_count }) => sum + run_count, 0);
  const lostTargets = shared_lost_targets.reduce((sum, each) => sum + each.target_count, counts.lost_targets);
  const lostConnections = counts.lost - counts.unchecked_connections - counts.lost_targets - counts.shared_lost_targets;
  const otherRuns = counts.bad_runs + shared - downCount;
  const parts = [
    downCount === 0
      ? null
      : t.down(
          downCount > namedDown
            ? texts(ctx).overview.executors_affected(downCount)
            : formatList(
                ctx.language,
                down.map((run) => run.executor),
              ),
          downCount,
        ),
    otherRuns === 0 ? null : t.runs(otherRuns),
    lostConnections === 0 ? null : t.connections(lostConnections),
    counts.unchecked_connections === 0 ? null : t.unchecked(counts.unchecked_connections),
    lostTargets === 0 ? null : t.targets(lostTargets),
    counts.upstream_outages === 0 ? null : t.outages(counts.upstream_outages),
    counts.refused_credentials === 0 ? null : t.credentials(counts.refused_credentials),
    sources.failing === 0 ? null : t.sources(sources.failing),
    counts.awaiting === 0 ? null : t.awaiting(counts.awaiting),
    counts.updates === 0 ? null : t.updates(counts.updates),
  ].filter((part) => part !== null);
  if (parts.length > 0) return parts.join(ctx.language === "zh" ? "，" : ", ");
  const left = stepsLeft(stats);
  if (left === setupSteps.length) return t.fresh;
  if (left > 0) return t.steps_left(left);
  // Only when everything was checked and nothing is pending.
  const isCurrent = counts.executors > 0 && counts.waiting + counts.active_runs + counts.unknown === 0;
  return isCurrent ? t.current : t.nothing;
}
