import { plain } from "../../messages/message.ts";
import type { Refusal } from "../runtime.ts";
import { isNameOrId } from "./group/ties.ts";
import { leftoverOf } from "./names.ts";
import { type ContainerInspect, isRunning, nameOf } from "./objects.ts";
import { stringsAt } from "./raw.ts";

/** The containers that one requires, as far as they are there. */
function requiredBy(container: ContainerInspect, all: readonly ContainerInspect[]): readonly ContainerInspect[] {
  const references = stringsAt(container.HostConfig.Dependencies);
  return all.filter((each) => references.some((reference) => isNameOrId(reference, each)));
}

/** A start of one that requires others starts them as well, and an engine cannot be told otherwise. */
export function requirementRefusals(container: ContainerInspect, all: readonly ContainerInspect[]): readonly Refusal[] {
  return requiredBy(container, all).flatMap((required): Refusal[] => {
    const name = nameOf(required);
    if (leftoverOf(name) !== null) {
      const message = `It requires "${name}", which an earlier update kept aside and which would be started with it; make it again with the command that made it first`;
      return [{ code: "requires_leftover", message: plain(message) }];
    }
    if (!isRunning(container) || isRunning(required) || hasEndedWell(required)) return [];
    const message = `It requires "${name}", which does not run and would be started with it; start "${name}" first, or stop both`;
    return [{ code: "requires_stopped", message: plain(message) }];
  });
}

/** One that ended by itself is most often meant to: a migration, say. */
export function requirementWarnings(container: ContainerInspect, all: readonly ContainerInspect[]): readonly Refusal[] {
  if (!isRunning(container)) return [];
  const ended = requiredBy(container, all).filter((each) => !isRunning(each) && hasEndedWell(each));
  return ended.map((each) => ({
    code: "requires_ended",
    message: plain(
      `It requires "${nameOf(each)}", which has come to its end: the engine runs that again whenever it starts this one`,
    ),
  }));
}

function hasEndedWell({ State: state }: ContainerInspect): boolean {
  return state.Status === "exited" && (state.ExitCode ?? 0) === 0;
}
