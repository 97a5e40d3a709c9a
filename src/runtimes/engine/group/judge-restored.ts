import { say } from "../../../messages/message.ts";
import type { Refusal } from "../../target.ts";
import type { Scene } from "../container-plan.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import { imageRefusals, makeRefusals, makeWarnings, moveRefusals, moveWarnings } from "../refusals.ts";
import { requirementRefusals, requirementWarnings } from "../requirements.ts";
import { isToRun } from "../snapshot.ts";
import type { Restored } from "./restore.ts";
import { strangerWarnings } from "./stranger.ts";
import type { Replaced } from "./target-plan.ts";
import { withNames } from "./ties.ts";

/** How a rollback is judged: by what it creates. What it replaces may be broken in any way. */
export interface Judged {
  refusals: readonly Refusal[];
  warnings: readonly Refusal[];
}

export function judgeRestored(
  { member, present }: Restored,
  /** The engine's containers after the rollback. */
  after: readonly ContainerInspect[],
  nameOfId: (id: string) => string | null,
): Judged {
  const { container } = member;
  const restored = {
    ...container,
    HostConfig: withNames(container.HostConfig, nameOfId),
    State: stateAfter({ member, present }),
  };
  const making = makeRefusals(container).map(({ code, message }) => ({
    code,
    message: say("restoring.inexact", { cause: message }),
  }));
  return {
    refusals: [
      ...(present === null ? [] : moveRefusals(present.container, present.around)),
      ...making,
      ...requirementRefusals(restored, after),
    ],
    warnings: [
      ...strangerWarnings(member, present),
      ...makeWarnings(container),
      ...requirementWarnings(restored, after),
      ...(present === null ? [] : [...moveWarnings(present.container, present.around), ...lossWarnings(present)]),
    ],
  };
}

/** What a rollback cannot save of the container that it replaces. */
function lossWarnings({ container, image }: Scene): readonly Refusal[] {
  return imageRefusals(container, image).map(({ message }) => ({
    code: "not_saved",
    message: say("restoring.present_not_saved", { cause: message }),
  }));
}

/** The engine's containers after a rollback: dependants of a broken one will find it restored. */
export function containersAfter(
  all: readonly ContainerInspect[],
  restored: readonly Restored[],
): readonly ContainerInspect[] {
  const byName = new Map(restored.map((each) => [each.member.name, each]));
  const kept = all.map((container) => {
    const each = byName.get(nameOf(container));
    return each === undefined ? container : { ...container, State: stateAfter(each) };
  });
  const made = restored.filter(({ present }) => present === null);
  return [...kept, ...made.map((each) => ({ ...each.member.container, State: stateAfter(each) }))];
}

function stateAfter({ member, present }: Restored): ContainerInspect["State"] {
  const { State: state } = member.container;
  const runs = isToRun(member, present?.container ?? null);
  return runs ? { ...state, Status: "running", Running: true } : state;
}

/** A dependant of those is itself judged as it is now, but among the resulting containers. */
export function amongThose(dependant: Replaced, after: readonly ContainerInspect[]): Replaced {
  const { scene } = dependant;
  return { ...dependant, scene: { ...scene, around: { ...scene.around, all: after } } };
}
