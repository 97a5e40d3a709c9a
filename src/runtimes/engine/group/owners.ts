import type { Refusal } from "../../runtime.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import type { Snapshot, SnapshotMember } from "../snapshot.ts";
import type { FoundTarget } from "./target.ts";
import { isNameOrId, ownersIn, type Successor } from "./ties.ts";

/** Who stands for the containers that a snapshot's members hang on and that are not restored with them. */
export interface Owners {
  /** By the id that the snapshot says. */
  stands: ReadonlyMap<string, Successor>;
  /** Of members whose owner is gone, with nobody in its place. */
  refusals: readonly Refusal[];
}

/**
 * The owner of a namespace or a volume may have been replaced since the snapshot. Then the container that the present one hangs on
 * in the same place stands for it; for one that the snapshot holds, the container that has its name.
 */
export function ownersNow(found: FoundTarget, { members }: Snapshot): Owners {
  const stands = new Map<string, Successor>();
  const refusals: Refusal[] = [];
  const targets = members.filter((each) => each.role === "target");
  for (const member of targets) {
    for (const { place, reference } of ownersIn(member.container.HostConfig)) {
      const isThere = [...found.all, ...targets.map((each) => each.container)].some((each) => {
        return isNameOrId(reference, each);
      });
      if (isThere) continue;
      const owner = heldOwner(found, members, reference) ?? presentOwner(found, member, place);
      if (owner !== null) stands.set(reference, { id: owner.Id, name: nameOf(owner) });
      else refusals.push(ownerGone(member, place, reference));
    }
  }
  return { stands, refusals };
}

function heldOwner(
  { all }: FoundTarget,
  members: readonly SnapshotMember[],
  reference: string,
): ContainerInspect | null {
  const held = members.find((each) => isNameOrId(reference, each.container));
  return all.find((each) => nameOf(each) === held?.name) ?? null;
}

function presentOwner({ all }: FoundTarget, member: SnapshotMember, place: string): ContainerInspect | null {
  const present = all.find((each) => nameOf(each) === member.name);
  if (present === undefined) return null;
  const reference = ownersIn(present.HostConfig).find((each) => each.place === place)?.reference;
  return all.find((each) => reference !== undefined && isNameOrId(reference, each)) ?? null;
}

function ownerGone(member: SnapshotMember, place: string, reference: string): Refusal {
  const [setting = ""] = place.split(" ");
  const owner = /^[0-9a-f]{64}$/.test(reference) ? reference.slice(0, 12) : reference;
  return {
    code: "owner_gone",
    message: `In the snapshot "${member.name}" hangs on the container "${owner}" (${setting}), which is gone`,
  };
}
