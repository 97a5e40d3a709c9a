import { say } from "../../../messages/message.ts";
import { otherContainer } from "../../plan.ts";
import type { Refusal } from "../../target.ts";
import { composeOf } from "../compose/labels.ts";
import type { Scene } from "../container-plan.ts";
import { ownLabels } from "../names.ts";
import { stringMapAt } from "../raw.ts";
import type { SnapshotMember } from "../snapshot.ts";

/**
 * Whether the container in a snapshot member's place is a stranger: not the same one, not created by one of our runs, and not created by
 * compose for the same service. They only share a name.
 */
export function isStranger(member: SnapshotMember, present: Scene | null): boolean {
  if (present === null || present.container.Id === member.container.Id) return false;
  const labels = stringMapAt(present.container.Config.Labels);
  if (labels[ownLabels.name] === member.name || labels[ownLabels.remade] !== undefined) return false;
  const [now, then] = [composeOf(present.container), composeOf(member.container)];
  return now === null || then === null || now.project !== then.project || now.service !== then.service;
}

export function strangerWarnings(member: SnapshotMember, present: Scene | null): readonly Refusal[] {
  if (!isStranger(member, present)) return [];
  return [
    {
      code: otherContainer,
      message: say("restoring.other_container", { name: member.name }),
    },
  ];
}
