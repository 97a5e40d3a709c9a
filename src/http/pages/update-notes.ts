import type { BreakingStep } from "../../../templates/trackers/notes.tsx";
import type { ExecutorView, PlanView } from "../../executors/schema.ts";
import { planOf, type RunDetailView } from "../../runs/schema.ts";
import type { Services } from "../../services.ts";
import { ImageReferenceError, parseImageReference } from "../../versions/image-reference.ts";

/** One service's move from one version to another, in the terms of its tracker. */
interface UpdateStep {
  tracker: string;
  source: string;
  channel: string;
  from: string;
  to: string;
}

/** Of one update; each reads up to 1 MiB of notes. */
const maxSteps = 20;

/** The moves of a plan that was made now. */
export function stepsOfPlan({ services }: Pick<PlanView, "services">): readonly UpdateStep[] {
  return services.flatMap(({ tracker, source, channel, found, desired }) => {
    const from = found?.tag ?? null;
    if (from === null || desired === null || desired.tag === from) return [];
    return [{ tracker, source, channel, from, to: desired.tag }];
  });
}

/** The tag of a reference; null for a digest alone, and for what is no image. */
function tagOf(reference: string): string | null {
  try {
    return parseImageReference(reference).tag;
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

/** The moves of a run's stored plan. */
export function stepsOfRun(run: RunDetailView, { bindings, target }: ExecutorView): readonly UpdateStep[] {
  const [first] = bindings;
  const moves = target.is_group
    ? (planOf(run)?.services ?? []).map(({ service, from, to }) => {
        const binding = bindings.find((each) => each.service === service);
        return { binding, from: tagOf(from.reference), to: tagOf(to.reference) };
      })
    : [{ binding: first, from: run.from.tag, to: run.to.tag }];
  return moves.flatMap(({ binding, from, to }) => {
    if (binding === undefined || from === null || to === null || from === to) return [];
    const { tracker, source, channel } = binding;
    return [{ tracker, source, channel, from, to }];
  });
}

/** What breaks on the way, as far as the stored notes say. Several services with the same move count once. */
export async function breakingIn(
  { trackers }: Pick<Services, "trackers">,
  steps: readonly UpdateStep[],
): Promise<readonly BreakingStep[]> {
  const distinct = [...new Map(steps.map((step) => [JSON.stringify(step), step])).values()];
  const found: BreakingStep[] = [];
  for (const { tracker, ...asked } of distinct.slice(0, maxSteps)) {
    const { direction, versions } = await trackers.notesBetween(tracker, asked);
    const breaking = versions.filter(({ breaking_changes }) => breaking_changes.length > 0);
    if (direction === "up" && breaking.length > 0) found.push({ tracker, versions: breaking });
  }
  return found;
}
