import type { ContainerInspect, ContainerSummary, ImageInspect, ImageSummary } from "./objects.ts";
import { canonical, objectAt, stringAt } from "./raw.ts";

/**
 * The engine's last responses about containers and images. A container is inspected again if its line in the list shows
 * another state, name, image, network, port or mount. Changes that the list does not show (restart policy, limits) are noticed late, so
 * plans and runs inspect their own containers again and use this only for the others.
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

/** The parts of a container's line that reveal a change; not its uptime. */
export function containerSign(summary: ContainerSummary): string {
  const { Status: status, SizeRw: _written, SizeRootFs: _size, ...rest } = objectAt(summary);
  const health = /\(([^)]*)\)/.exec(stringAt(status))?.[1] ?? "";
  return canonical({ ...rest, health });
}

export function imageSign({ RepoTags: tags, RepoDigests: digests }: ImageSummary): string {
  return canonical({ tags: (tags ?? []).toSorted(), digests: (digests ?? []).toSorted() });
}

/**
 * The remembered value if its sign is unchanged, else a new one, which is then remembered unless `isSigned` says that it
 * changed between list and inspection: stored under the old sign, it would be reused once that sign returns.
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

/** Forgets what no longer exists. */
export function keepOnly(memory: Map<string, unknown>, ids: Iterable<string>): void {
  const present = new Set(ids);
  for (const id of [...memory.keys()]) if (!present.has(id)) memory.delete(id);
}
