import { type Message, plain } from "../../messages/message.ts";
import { type Readiness, stabilityMs } from "../runtime.ts";
import type { EngineClient } from "./client.ts";
import { type ContainerInspect, nameOf } from "./objects.ts";
import { listAt, objectAt, stringAt } from "./raw.ts";
import { orNull } from "./survey.ts";

/** A container that a run made, as the run knows it. */
export interface Made {
  id: string;
  name: string;
}

/** `lost`: somebody removed it or gave it another name. */
type Found = { container: ContainerInspect; lost: null } | { container: ContainerInspect | null; lost: Message };

/** By its id, so that another one under its name is not taken for it. */
export async function findMade(client: EngineClient, { id, name }: Made): Promise<Found> {
  const container = await orNull(client.inspectContainer(id));
  if (container === null) return { container, lost: plain("Container was removed") };
  if (nameOf(container) === name) return { container, lost: null };
  return { container, lost: plain(`Container was renamed to "${nameOf(container)}"`) };
}

/** Why a container does not serve any more, or did not all the time since its start; null while it runs, healthy or not. */
export function endOf(container: ContainerInspect): Message | null {
  const { State: state } = container;
  if (state.Status === "created") return plain("It was never started");
  if (state.OOMKilled === true) return plain("The engine ended it for using too much memory");
  if (state.Restarting === true || (container.RestartCount ?? 0) > 0) {
    const count = times(container.RestartCount ?? 0);
    // While it runs again the engine shows 0, which is no exit code of it.
    const isRunningAgain = state.Running === true && state.Restarting !== true;
    if (isRunningAgain) return plain(`The engine restarted it ${count}`);
    return plain(`The engine restarted it ${count}; the last exit code was ${state.ExitCode ?? 0}`);
  }
  // Podman calls a paused one not running.
  if (state.Running === true || state.Paused === true) return null;
  const reason = stringAt(state.Error) === "" ? "" : `: ${stringAt(state.Error).slice(0, 300)}`;
  return plain(`Container exited (code ${state.ExitCode ?? 0})${reason}`);
}

/**
 * The engine's own judgement of a container that has been started for `ranMs`, by what elapsed. With a health check its verdict counts;
 * without one it must run for the whole stability period and not have been restarted or killed for memory. Whether it is to run
 * at all is not asked here: a container that was only created is not ready.
 */
export function judgeReadiness(container: ContainerInspect, ranMs: number): Readiness {
  const { State: state } = container;
  const end = endOf(container);
  if (end !== null) return unready(end);
  if (state.Paused === true) return { ready: false, detail: plain("It is paused") };
  const health = state.Health?.Status ?? "";
  if (health === "healthy") return { ready: true, detail: plain("Its own health check passes") };
  if (health === "unhealthy") return unready(plain(`Its own health check fails${lastOutput(container)}`));
  if (health === "starting") {
    // Podman has systemd run the checks: where there is none, this is what stays.
    const hasRun = listAt(state.Health?.Log).length > 0;
    return { ready: false, detail: plain(`Its own health check has not ${hasRun ? "passed" : "run"} yet`) };
  }
  if (ranMs >= stabilityMs)
    return { ready: true, detail: plain(`Running for ${Math.floor(ranMs / 1000)} s without a restart`) };
  return { ready: false, detail: plain(`Running for ${Math.floor(ranMs / 1000)} of ${stabilityMs / 1000} s`) };
}

export function unready(detail: Message): Readiness {
  return { ready: false, detail, final: true };
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function lastOutput(container: ContainerInspect): string {
  const log = listAt(container.State.Health?.Log).map(objectAt);
  const output = stringAt(log.at(-1)?.Output).trim().slice(0, 300);
  return output === "" ? "" : `: ${output}`;
}
