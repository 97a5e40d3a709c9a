import { say } from "../../messages/message.ts";
import type { Refusal } from "../target.ts";
import { isNameOrId } from "./group/ties.ts";
import { leftoverOf } from "./names.ts";
import { type ContainerInspect, isRunning, nameOf } from "./objects.ts";
import { stringsAt } from "./raw.ts";

/** The existing containers that one requires. */
function requiredBy(container: ContainerInspect, all: readonly ContainerInspect[]): readonly ContainerInspect[] {
  const references = stringsAt(container.HostConfig.Dependencies);
  return all.filter((each) => references.some((reference) => isNameOrId(reference, each)));
}

/** Starting a container that requires others starts them too, and an engine offers no way around that. */
export function requirementRefusals(container: ContainerInspect, all: readonly ContainerInspect[]): readonly Refusal[] {
  return requiredBy(container, all).flatMap((required): Refusal[] => {
    const name = nameOf(required);
    if (leftoverOf(name) !== null) {
      return [{ code: "requires_leftover", message: say("refusals.requires_leftover", { name }) }];
    }
    if (!isRunning(container) || isRunning(required) || hasEndedWell(required)) return [];
    return [{ code: "requires_stopped", message: say("refusals.requires_stopped", { name }) }];
  });
}

/** A container that exited was usually meant to, such as a migration. */
export function requirementWarnings(container: ContainerInspect, all: readonly ContainerInspect[]): readonly Refusal[] {
  if (!isRunning(container)) return [];
  const ended = requiredBy(container, all).filter((each) => !isRunning(each) && hasEndedWell(each));
  return ended.map((each) => ({
    code: "requires_ended",
    message: say("refusals.requires_ended", { name: nameOf(each) }),
  }));
}

function hasEndedWell({ State: state }: ContainerInspect): boolean {
  return state.Status === "exited" && (state.ExitCode ?? 0) === 0;
}
