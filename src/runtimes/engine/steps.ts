import type { Message } from "../../messages/types.ts";
import type { StepKind } from "../target-kind.ts";

const steps = [
  "pull",
  "create",
  "wait",
  "drain",
  "stop",
  "rename_old",
  "rename_new",
  "start",
  "undo",
  "remove_old",
] as const;
/** `wait`: a dependency becomes healthy; `drain`: both containers run; `commit`: the new version is in place. */
export type EngineStep = (typeof steps)[number] | "commit";

/** Steps that change what runs; creating the new container does not. */
export const touching: ReadonlySet<string> = new Set<EngineStep>(["stop", "rename_old", "rename_new", "start"]);
/** The other steps depend on the containers, or are taken only after a failure. */
const expected: ReadonlySet<string> = new Set<EngineStep>([
  "pull",
  "create",
  "stop",
  "rename_old",
  "start",
  "remove_old",
]);

/** The steps of a run on one container, or on several that pull their images together. */
export function engineSteps(isMany: boolean): readonly StepKind[] {
  return steps.map((name) => {
    const shown = name === "rename_old" || name === "rename_new" ? "rename" : name;
    const told = wordsOf(name === "pull" && isMany ? "pull_many" : shown);
    return {
      name,
      ...(shown === name ? {} : { shown_as: shown }),
      touches: touching.has(name),
      is_expected: expected.has(name),
      phase: name === "pull" ? "prepare" : name === "remove_old" ? "finish" : "change",
      words: { waiting: told("waiting"), running: told("running"), done: told("done"), failed: told("failed") },
    };
  });
}

function wordsOf(step: Exclude<(typeof steps)[number], "rename_old" | "rename_new"> | "rename" | "pull_many") {
  return (state: keyof StepKind["words"]): Message => ({ code: `steps.${step}`, params: { state } });
}
