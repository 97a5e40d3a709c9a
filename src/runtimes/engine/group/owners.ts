import { say } from "../../../messages/message.ts";
import type { Refusal } from "../../target.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import type { Snapshot, SnapshotMember } from "../snapshot.ts";
import type { FoundTarget } from "./target.ts";
import { isNameOrId, ownersIn, type Successor } from "./ties.ts";

/** Present counterparts of containers that a snapshot's members depend on and that are not restored with them. */
export interface Owners {
  /** By the snapshot's id. */
  stands: ReadonlyMap<string, Successor>;
  /** Of members whose owner is gone without a counterpart. */
  refusals: readonly Refusal[];
}

/**
 * The owner of a namespace or volume may have been replaced since the snapshot. Its counterpart is then the container that the present one
 * depends on in the same place; for a member of the snapshot, the container with its name.
 */
export function ownersNow(found: FoundTarget, { members }: Snapshot): Owners {
  const stands = new Map<string, Successor>();
  const refusals: Refusal[] = [];
  const targets = members.filter((each) => each.role === "target");
  for (const member of targets) {
    for (const [place, references] of goneOwners(found, member, targets)) {
      const owners = references.map((reference) => heldOwner(found, members, reference));
      const unknown = references.filter((_reference, index) => owners[index] === null);
      const present = presentOwners(found, member, place).filter((each) => !owners.includes(each));
      for (const [index, reference] of references.entries()) {
        const other = present.length === unknown.length ? present[unknown.indexOf(reference)] : undefined;
        const owner = owners[index] ?? other ?? null;
        if (owner !== null) stands.set(reference, { id: owner.Id, name: nameOf(owner) });
        else refusals.push(ownerGone(member, place, reference));
      }
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

/** By the place where a snapshot's member names them. */
function goneOwners(
  { all }: FoundTarget,
  member: SnapshotMember,
  targets: readonly SnapshotMember[],
): ReadonlyMap<string, readonly string[]> {
  const known = [...all, ...targets.map((each) => each.container)];
  const gone = new Map<string, readonly string[]>();
  for (const { place, reference } of ownersIn(member.container.HostConfig)) {
    if (known.some((each) => isNameOrId(reference, each))) continue;
    gone.set(place, [...(gone.get(place) ?? []), reference]);
  }
  return gone;
}

/** Those that the present container depends on in that place, and the snapshot's does not. */
function presentOwners({ all }: FoundTarget, member: SnapshotMember, place: string): readonly ContainerInspect[] {
  const present = all.find((each) => nameOf(each) === member.name);
  if (present === undefined) return [];
  const then = ownersIn(member.container.HostConfig).map(({ reference }) => reference);
  return ownersIn(present.HostConfig)
    .filter((each) => each.place === place && !then.includes(each.reference))
    .flatMap(({ reference }) => all.find((each) => isNameOrId(reference, each)) ?? []);
}

function ownerGone(member: SnapshotMember, place: string, reference: string): Refusal {
  const [setting = ""] = place.split(" ");
  const owner = /^[0-9a-f]{64}$/.test(reference) ? reference.slice(0, 12) : reference;
  return {
    code: "owner_gone",
    message: say("restoring.owner_gone", { name: member.name, owner, setting }),
  };
}
