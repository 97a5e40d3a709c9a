import type { ContainerInspect, ContainerSummary, ImageInspect, ImageSummary } from "./objects.ts";
import { canonical, objectAt, stringAt } from "./raw.ts";

/**
 * What an engine said of its containers and images the last time. A container is asked for again when its line in the list says
 * something else: another state, name, image, network, port or mount. What no list shows (a changed restart policy or limit) is
 * seen late; therefore plans and runs ask anew for what they concern, and use this for its surroundings.
 */
export interface SurveyMemory {
  containers: Map<string, Remembered<ContainerInspect>>;
  images: Map<string, Remembered<ImageInspect>>;
}

export interface Remembered<T> {
  sign: string;
  found: T;
}

export function createSurveyMemory(): SurveyMemory {
  return { containers: new Map(), images: new Map() };
}

/** What of a container's line in the list tells of a change; not for how long it is up. */
export function containerSign(summary: ContainerSummary): string {
  const { Status: status, SizeRw: _written, SizeRootFs: _size, ...rest } = objectAt(summary);
  const health = /\(([^)]*)\)/.exec(stringAt(status))?.[1] ?? "";
  return canonical({ ...rest, health });
}

export function imageSign({ RepoTags: tags, RepoDigests: digests }: ImageSummary): string {
  return canonical({ tags: (tags ?? []).toSorted(), digests: (digests ?? []).toSorted() });
}

/**
 * The remembered one if its sign is still the same, else a new one, which is then remembered, unless `isSigned` says that it has
 * changed between list and answer: under the sign of before, it would be taken for what is there when that comes back.
 */
export async function recall<T>(
  memory: Map<string, Remembered<T>>,
  id: string,
  sign: string,
  ask: () => Promise<T | null>,
  isSigned: (found: T) => boolean = () => true,
): Promise<T | null> {
  const known = memory.get(id);
  if (known?.sign === sign) return known.found;
  const found = await ask();
  if (found === null || !isSigned(found)) memory.delete(id);
  else memory.set(id, { sign, found });
  return found;
}

/** Forgets what is no longer there. */
export function keepOnly(memory: Map<string, unknown>, ids: Iterable<string>): void {
  const present = new Set(ids);
  for (const id of [...memory.keys()]) if (!present.has(id)) memory.delete(id);
}
