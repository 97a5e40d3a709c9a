import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import type { TargetRef } from "../../target.ts";
import { completeContainer } from "../complete.ts";
import { composeOf } from "../compose/labels.ts";
import { mainService, type Scene, type SceneSource, sceneOf } from "../container-plan.ts";
import { leftoverOf } from "../names.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import { isBlank } from "../raw.ts";
import { orNull } from "../survey.ts";
import { becauseOf } from "./ties.ts";

/** A target's container with its service. */
export interface Member {
  container: ContainerInspect;
  service: string;
}

/** All containers of an engine at one time. */
export interface Survey {
  all: readonly ContainerInspect[];
  sceneOf(container: ContainerInspect): Promise<Scene>;
}

/** A target in it. */
export interface FoundTarget extends Survey {
  ref: TargetRef;
  /** In order of service and number; empty when the target is gone. */
  members: readonly Member[];
}

/** Surveys the engine: only requests what changed since the last time, which is enough for lists. */
export async function findSurvey(source: SceneSource): Promise<Survey> {
  const all = await source.reads.containers();
  const imageOf = await source.reads.remembered();
  return { all, sceneOf: async (container) => sceneOf(source, all, container, await imageOf(container.Image)) };
}

export function targetIn(survey: Survey, ref: TargetRef): FoundTarget {
  return { ...survey, ref, members: membersOf(ref, survey.all) };
}

/** A target for lists; throws `not_found` when it is gone. */
export async function lookAtTarget(source: SceneSource, ref: TargetRef): Promise<FoundTarget> {
  return orThrow(targetIn(await findSurvey(source), ref));
}

/**
 * A target for plans and runs: it and its dependants are read again and completely; for the rest of the engine only name, state and
 * creation matter, and a list shows when these changed. A target that is gone has no members. `owed`: see `PlanOptions`.
 */
export async function findTarget(
  source: SceneSource,
  ref: TargetRef,
  owed: readonly string[] = [],
): Promise<FoundTarget> {
  const { client, reads } = source;
  const remembered = await reads.containers();
  const concerned = concernedBy(ref, remembered);
  const asked = await Promise.all(
    remembered.map((each) => (concerned.has(each) ? orNull(client.inspectContainer(each.Id)) : each)),
  );
  const all = asked.filter((each) => each !== null);
  const imageOf = reads.images();
  return targetIn(
    {
      all,
      sceneOf: async (container) => {
        const image = await imageOf(container.Image);
        return sceneOf(source, all, await completeContainer(client, container), image, owed);
      },
    },
    ref,
  );
}

/** The same, and throws `not_found` when the target is gone. */
export async function getTarget(
  source: SceneSource,
  ref: TargetRef,
  owed: readonly string[] = [],
): Promise<FoundTarget> {
  return orThrow(await findTarget(source, ref, owed));
}

function orThrow(found: FoundTarget): FoundTarget {
  if (found.members.length > 0) return found;
  const code = found.ref.kind === "compose" ? "engine.no_group" : "engine.no_container";
  throw new PluginError("not_found", say(code, { name: found.ref.id.slice(0, 200) }));
}

/** A target's containers, and those that a run would recreate with them, directly or through others: none from memory. */
function concernedBy(ref: TargetRef, all: readonly ContainerInspect[]): ReadonlySet<ContainerInspect> {
  const concerned = new Set(membersOf(ref, all).map(({ container }) => container));
  // The engine reports links by the current names of others, and no list shows a renaming.
  for (const each of all) if (!isBlank(each.HostConfig.Links)) concerned.add(each);
  for (const each of concerned) {
    for (const other of all) if (becauseOf(other, each) !== null) concerned.add(other);
  }
  return concerned;
}

function membersOf(ref: TargetRef, all: readonly ContainerInspect[]): readonly Member[] {
  if (ref.kind === "container") {
    const container = all.find((each) => nameOf(each) === ref.id);
    return container === undefined ? [] : [{ container, service: mainService }];
  }
  return composeGroups(all).get(ref.id) ?? [];
}

/** The containers of each compose project: those of its services, without single `compose run`s and our runs' backups. */
export function composeGroups(all: readonly ContainerInspect[]): ReadonlyMap<string, readonly Member[]> {
  const groups = new Map<string, { member: Member; number: number }[]>();
  for (const container of all) {
    const labels = composeOf(container);
    if (labels === null || labels.is_oneoff || leftoverOf(nameOf(container)) !== null) continue;
    const group = groups.get(labels.project) ?? [];
    group.push({ member: { container, service: labels.service }, number: labels.number ?? 0 });
    groups.set(labels.project, group);
  }
  const sorted = [...groups].map(([project, found]) => {
    found.sort((left, right) => {
      const [a, b] = [left.member.service, right.member.service];
      return a === b ? left.number - right.number : a < b ? -1 : 1;
    });
    return [project, found.map(({ member }) => member)] as const;
  });
  return new Map(sorted);
}
