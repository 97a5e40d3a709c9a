import { type Message, say } from "../../messages/message.ts";
import { type Readiness, stabilityMs } from "../session.ts";
import type { EngineClient } from "./client.ts";
import { type ContainerInspect, nameOf } from "./objects.ts";
import { listAt, objectAt, stringAt } from "./raw.ts";
import { orNull } from "./survey.ts";

/** A container that a run created, as the run knows it. */
export interface Made {
  id: string;
  name: string;
}

/** `lost`: somebody removed it or gave it another name. */
type Found = { container: ContainerInspect; lost: null } | { container: ContainerInspect | null; lost: Message };

/** By its ID, so that another container with its name is not mistaken for it. */
export async function findMade(client: EngineClient, { id, name }: Made): Promise<Found> {
  const container = await orNull(client.inspectContainer(id));
  if (container === null) return { container, lost: say("readiness.removed") };
  if (nameOf(container) === name) return { container, lost: null };
  return { container, lost: say("readiness.renamed", { name: nameOf(container) }) };
}

/** Why a container no longer serves, or did not since its start; null while it runs, healthy or not. */
export function endOf(container: ContainerInspect): Message | null {
  const { State: state } = container;
  if (state.Status === "created") return say("readiness.never_started");
  if (state.OOMKilled === true) return say("readiness.out_of_memory");
  if (state.Restarting === true || (container.RestartCount ?? 0) > 0) {
    const count = container.RestartCount ?? 0;
    // While it runs again, the engine reports 0, which is not an exit code.
    const isRunningAgain = state.Running === true && state.Restarting !== true;
    return say("readiness.restarted", { count, exit_code: isRunningAgain ? null : (state.ExitCode ?? 0) });
  }
  // Podman reports a paused container as not running.
  if (state.Running === true || state.Paused === true) return null;
  const reason = stringAt(state.Error).slice(0, 300) || null;
  return say("readiness.exited", { exit_code: state.ExitCode ?? 0, reason });
}

/**
 * The engine's own judgement of a container that was started `ranMs` ago (elapsed time). With a health check, its verdict counts;
 * without one, it must run for the whole stability period without a restart or an out-of-memory kill. Whether it is to run
 * at all is not judged here: a container that was only created is not ready.
 */
export function judgeReadiness(container: ContainerInspect, ranMs: number): Readiness {
  const { State: state } = container;
  const end = endOf(container);
  if (end !== null) return unready(end);
  if (state.Paused === true) return { ready: false, detail: say("readiness.paused") };
  const health = state.Health?.Status ?? "";
  if (health === "healthy") return { ready: true, detail: say("readiness.check_passes") };
  if (health === "unhealthy") return unready(say("readiness.check_fails", { output: lastOutput(container) }));
  if (health === "starting") {
    // Podman lets systemd run the checks: without systemd, it stays in this state.
    const hasRun = listAt(state.Health?.Log).length > 0;
    return { ready: false, detail: say(hasRun ? "readiness.check_not_passed" : "readiness.check_not_run") };
  }
  const seconds = Math.floor(ranMs / 1000);
  if (ranMs >= stabilityMs) return { ready: true, detail: say("readiness.running", { seconds }) };
  return { ready: false, detail: say("readiness.running_of", { seconds, needed: stabilityMs / 1000 }) };
}

export function unready(detail: Message): Readiness {
  return { ready: false, detail, final: true };
}

function lastOutput(container: ContainerInspect): string | null {
  const log = listAt(container.State.Health?.Log).map(objectAt);
  return stringAt(log.at(-1)?.Output).trim().slice(0, 300) || null;
}
