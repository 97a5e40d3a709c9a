import { PluginError } from "../errors.ts";
import type { OutageEnd, StoredOutage } from "../executors/outage-schema.ts";
import { type Message, say, toldAs } from "../messages/message.ts";
import { wentDownAt } from "../runtimes/journal-times.ts";
import type { Standing } from "../runtimes/session.ts";
import { isStartedAgain, isToRun, type RunContext } from "./context.ts";
import { executorOfRun, newerRunOf } from "./queries.ts";
import type { Seen } from "./serving.ts";
import { hasTouched, touchingSteps } from "./stored-plan.ts";

/**
 * The outage with which a failed run ends; null if everything that ran before, or that the run was to start, is running. What was down
 * before an update stays down, and so does what was stopped externally before the run changed anything. `isAsBefore`: everything is as the
 * run found it.
 */
export async function outageAtEnd(
  context: Pick<RunContext, "deps" | "run" | "plan" | "journal">,
  seen: Seen,
  isAsBefore: boolean,
  look: () => Promise<Standing | null>,
): Promise<StoredOutage | null> {
  const { deps, run, plan, journal } = context;
  if (plan === null || !isToRun(plan)) return null;
  if (plan.kind.keeps_trying === true) return null;
  if (seen.serving !== "none" && (seen.serving !== "unknown" || seen.is_seen)) return null;
  const isAgain = isRestart(context);
  const owed = plan.parts.filter(({ name }) => plan.owed.includes(name)).map(({ service }) => service);
  const isOwn = plan.services.some(({ service, from }) => {
    return (from.is_running || owed.includes(service)) && (seen.down.length === 0 || seen.down.includes(service));
  });
  if (!isAgain && !(isOwn && hasTouched(plan.kind, journal.entries()))) return null;
  let left: StoredOutage["left"] = null;
  try {
    const found = await look();
    if (found !== null) left = { ...found.facts };
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
  }
  return {
    since: wentDownAt(journal.entries()) ?? run.started_at ?? deps.clock.now(),
    way: isAgain && isAsBefore ? "again" : "back",
    ...{ tries: 0, left, outcome: null, ...toldAs("detail", null), serving: null, ended_at: null },
  };
}

/** Whether the run is a rollback that starts a stopped target which no earlier run left down. */
export function isRestart({ run, plan }: Pick<RunContext, "run" | "plan">): boolean {
  return run.kind === "rollback" && isStartedAgain(plan) && plan?.owed.length === 0;
}

/** Why this run no longer has to start the target, whatever its state; null if it has to. */
export async function notOwed({
  deps,
  run,
  settings,
}: Pick<RunContext, "deps" | "run" | "settings">): Promise<{ outcome: OutageEnd; detail: Message } | null> {
  const { read } = deps.db;
  const newer = await newerRunOf(read, run, touchingSteps(deps.connections.targetKind(settings.target.kind)));
  if (newer !== null) return { outcome: "replaced", detail: say("runs.replaced_by_run", { run: newer }) };
  if (!settings.is_enabled) return { outcome: "disabled", detail: say("runs.executor_disabled") };
  const executor = await executorOfRun(read, run.executor_id);
  if (executor?.is_connection_enabled !== true) return { outcome: "disabled", detail: say("runs.connection_disabled") };
  return null;
}
