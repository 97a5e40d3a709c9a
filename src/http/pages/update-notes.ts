import type { ExecutorView } from "../../executors/schema.ts";
import { planOf, type RunDetailView } from "../../runs/schema.ts";
import type { UpdateStep } from "../../trackers/notes/schema.ts";
import { ImageReferenceError, parseImageReference } from "../../versions/image-reference.ts";

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
