import type { Readiness, TargetRef } from "../../runtime.ts";
import { type ContainerInspect, isRunning, nameOf } from "../objects.ts";
import type { SceneSource } from "../plan.ts";
import { judgeReadiness } from "../readiness.ts";
import { getByName } from "../survey.ts";
import { getTarget } from "./target.ts";

/**
 * Judges containers one by one: the named ones, else those of the target that run. The target is ready when each is; it is final
 * as soon as one will not get better.
 */
export async function judgeTarget(
  source: SceneSource,
  ref: TargetRef,
  names: readonly string[] | null,
  since: number,
  now: number,
): Promise<Readiness> {
  const judged: { name: string; readiness: Readiness }[] = [];
  for (const container of await containersOf(source, ref, names)) {
    judged.push({ name: nameOf(container), readiness: judgeReadiness(container, since, now) });
  }
  const [only] = judged;
  if (only === undefined) return { ready: false, detail: `Nothing of "${ref.id}" runs`, final: true };
  if (judged.length === 1) return only.readiness;
  const unready = judged.filter(({ readiness }) => !readiness.ready);
  const final = unready.filter(({ readiness }) => !readiness.ready && readiness.final === true);
  // Whoever is at fault is named; the others were only not done yet.
  const shown = final.length > 0 ? final : unready.length > 0 ? unready : judged;
  const detail = shown.map(({ name, readiness }) => `"${name}": ${readiness.detail}`).join("; ");
  if (unready.length === 0) return { ready: true, detail };
  return { ready: false, detail, ...(final.length > 0 ? { final: true } : {}) };
}

async function containersOf(
  source: SceneSource,
  ref: TargetRef,
  names: readonly string[] | null,
): Promise<readonly ContainerInspect[]> {
  if (names === null && ref.kind === "compose") {
    return (await getTarget(source, ref)).members.map(({ container }) => container).filter(isRunning);
  }
  return await Promise.all((names ?? [ref.id]).map((name) => getByName(source.client, name)));
}
