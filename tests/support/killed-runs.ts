import { expect } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { isEndState } from "../../src/runs/states.ts";
import type { RealRuns } from "./real-runs.ts";
import type { RunRow } from "./run-parts.ts";
import type { Desired } from "./run-process.ts";

/** More than any run passes; only a loop would reach it. */
const mostPoints = 150;
/** The first process after a kill finds the run as it was left; more than a few would mean that none of them gets on. */
const mostProcesses = 4;
const live = new AbortController().signal;

/** A run that is about to be killed, and what its end has to be. */
export interface Doomed {
  /** As the request for a run has it. */
  input?: Readonly<Record<string, unknown>>;
  /** What the executor's source offers. */
  desired: Desired;
  judge(end: RunRow): Promise<void>;
}

interface Death {
  /** See `run-process.ts`; 0 for none. */
  point: number;
  /** Gets the means to kill the process that works on this run. */
  onStart?: (kill: () => void, run: string) => void;
}

/**
 * A process works on a run and dies by `kill -9`; the next one takes over, until nothing of the run is left to do. It has one end, with
 * one event. Answers that end as `state reason serving`, and whether the process was killed at all.
 */
export async function killRun(
  world: RealRuns,
  executor: string,
  { input = {}, desired, judge }: Doomed,
  { point, onStart }: Death,
): Promise<{ is_killed: boolean; end: string }> {
  world.offer(executor, desired);
  const { runs } = world.main;
  const { id } = await runs.create(systemActor, executor, input);
  const isKilled = await world.performAndDie(id, desired, point, (kill) => onStart?.(kill, id));
  await runs.takeOver();
  let run = await world.run(id);
  for (let processes = 0; !isOver(run); processes++) {
    if (processes === mostProcesses) throw new Error(`Point ${point} is never over: ${JSON.stringify(run)}`);
    await runs.work.perform({ id }, live);
    run = await world.run(id);
  }
  const end = `${run.state} ${run.reason_code} ${run.serving}`;
  try {
    expect([await world.eventsOf(id), run.outage_due_at]).toEqual([[expect.any(String)], null]);
    await judge(run);
  } catch (cause) {
    const told = [end, JSON.stringify(run.reason), ...(await world.steps(id))].join("; ");
    throw new Error(`Point ${point}: ${told}`, { cause });
  }
  return { is_killed: isKilled, end };
}

/** Kills at one point after the other, a run of its own each, up to the first that is beyond a run's end. Answers the ends. */
export async function killAtEach(
  world: RealRuns,
  executor: string,
  points: Iterable<number>,
  begin: () => Promise<Doomed>,
): Promise<readonly string[]> {
  const ends: string[] = [];
  for (const point of points) {
    const { is_killed, end } = await killRun(world, executor, await begin(), { point });
    ends.push(end);
    if (!is_killed) return ends;
    if (point > mostPoints) break;
  }
  throw new Error("The run has no end");
}

/** Nothing is left to do, and nobody works on it. */
function isOver({ state, cleanup_due_at, lease_owner }: RunRow): boolean {
  return isEndState(state) && cleanup_due_at === null && lease_owner === null;
}
