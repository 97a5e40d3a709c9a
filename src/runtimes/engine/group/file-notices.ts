import type { FileNotice } from "../../plan.ts";
import { composeOutlooks } from "../compose/outlook.ts";
import type { ContainerInspect } from "../objects.ts";
import { isSame, stringAt } from "../raw.ts";
import type { Restored } from "./restore.ts";
import type { Replaced } from "./target-plan.ts";

/** What compose files will say after a run that is no longer true, once per service. Reads files, changes nothing. */
export async function fileNotices(
  all: readonly (Replaced | Restored)[],
  folders: readonly string[] | null,
): Promise<readonly FileNotice[]> {
  const moves = all.flatMap((each) => ("member" in each ? restoredMove(each) : [replacedMove(each)]));
  // The new ids are unknown yet; which ones will change is enough.
  const moved = new Map(moves.map(({ container }) => [container.Id, container.Id]));
  const outlooks = await composeOutlooks(moves, { moved, ...(folders === null ? {} : { folders }) });
  const notices = outlooks.flatMap(({ notice }) => (notice === null ? [] : [notice]));
  return notices.filter((each, index) => notices.findIndex((other) => isSame(other, each)) === index);
}

interface Move {
  container: ContainerInspect;
  reference: string;
}

function replacedMove({ scene: { container }, change }: Replaced): Move {
  return { container, reference: change === null ? stringAt(container.Config.Image) : change.reference };
}

/** A container that is gone has no file. */
function restoredMove({ member, present }: Restored): readonly Move[] {
  if (present === null) return [];
  return [{ container: present.container, reference: stringAt(member.container.Config.Image) }];
}
