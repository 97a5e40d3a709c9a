import { PluginError } from "../../../errors.ts";
import type { TargetRef } from "../../runtime.ts";
import { completeContainer } from "../complete.ts";
import { composeOf } from "../compose/labels.ts";
import { leftoverOf } from "../names.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import { mainService, type Scene, type SceneSource, sceneOf } from "../plan.ts";
import { imageCache, rememberedImages, surveyContainers } from "../survey.ts";
import type { SurveyMemory } from "../survey-memory.ts";

/** One container of a target, and the service that it is. */
export interface Member {
  container: ContainerInspect;
  service: string;
}

/** Everything that an engine has, as it was found at one time. */
export interface Survey {
  all: readonly ContainerInspect[];
  sceneOf(container: ContainerInspect): Promise<Scene>;
}

/** A target among it. */
export interface FoundTarget extends Survey {
  ref: TargetRef;
  /** In the order of service and number; empty when the target is gone. */
  members: readonly Member[];
}

/**
 * With a memory only what has changed since is asked for, which is enough for lists; it also spares the second look at each
 * container without which nothing can be carried.
 */
export async function findSurvey(source: SceneSource, memory: SurveyMemory | null = null): Promise<Survey> {
  const { client } = source;
  const all = await surveyContainers(client, memory ?? undefined);
  const imageOf = memory === null ? imageCache(client) : await rememberedImages(client, memory);
  return {
    all,
    sceneOf: async (container) => {
      const seen = memory === null ? await completeContainer(client, container) : container;
      return sceneOf(source, all, seen, await imageOf(container.Image));
    },
  };
}

export function targetIn(survey: Survey, ref: TargetRef): FoundTarget {
  return { ...survey, ref, members: membersOf(ref, survey.all) };
}

/** Looks at the whole engine; a target that is gone has no members. */
export async function findTarget(
  source: SceneSource,
  ref: TargetRef,
  memory: SurveyMemory | null = null,
): Promise<FoundTarget> {
  return targetIn(await findSurvey(source, memory), ref);
}

/** The same, and throws `not_found` when the target is gone. */
export async function getTarget(
  source: SceneSource,
  ref: TargetRef,
  memory: SurveyMemory | null = null,
): Promise<FoundTarget> {
  const found = await findTarget(source, ref, memory);
  if (found.members.length > 0) return found;
  const what = ref.kind === "compose" ? "compose group" : "container";
  throw new PluginError("not_found", `There is no ${what} "${ref.id.slice(0, 200)}" on the engine`);
}

export function membersOf(ref: TargetRef, all: readonly ContainerInspect[]): readonly Member[] {
  if (ref.kind === "container") {
    const container = all.find((each) => nameOf(each) === ref.id);
    return container === undefined ? [] : [{ container, service: mainService }];
  }
  return composeGroups(all).get(ref.id) ?? [];
}

/** The containers of each compose project: those of its services, not the ones of single `compose run`s, nor what runs of ours left. */
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
