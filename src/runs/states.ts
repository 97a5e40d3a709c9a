import type { runStates } from "../db/tables.ts";

export type RunState = (typeof runStates)[number];

/**
 * The states that each state can lead to. Nothing is touched before `updating`, so a condition that turns out unmet after the pull (the
 * same image already runs, the window has closed) still ends in `skipped`.
 */
const transitions = {
  pending: ["capturing", "skipped", "failed"],
  capturing: ["updating", "skipped", "failed"],
  updating: ["verifying", "failed"],
  verifying: ["succeeded", "degraded", "failed"],
  succeeded: [],
  degraded: [],
  failed: [],
  skipped: [],
} as const satisfies { readonly [S in RunState]: readonly RunState[] };

export type NextState<S extends RunState> = (typeof transitions)[S][number];

/** The states of a run in progress; all others are end states. */
export type ActiveState = { [S in RunState]: NextState<S> extends never ? never : S }[RunState];
export type EndState = Exclude<RunState, ActiveState>;

export function isActiveState(state: RunState): state is ActiveState {
  return transitions[state].length > 0;
}

export function isEndState(state: RunState): state is EndState {
  return transitions[state].length === 0;
}
