import type { ContainerSummary } from "./objects.ts";
import { type RawObject, stringMapAt } from "./raw.ts";

/** The labels that a container made by a run carries. Labels cannot be added later, so the previous one is marked by its name. */
export const ownLabels = {
  run: "tidemark.run",
  role: "tidemark.role",
  name: "tidemark.name",
  previous: "tidemark.previous",
  /** On a previous container that a run made again from its snapshot, because somebody had removed it. */
  remade: "tidemark.remade",
} as const;

const ownPrefix = "tidemark.";

export interface RunNames {
  /** The target's own name. */
  name: string;
  /** What the previous container is called while the run can still put it back. */
  aside: string;
  /** What the new container is called until the name is free. */
  next: string;
}

/**
 * The three names of a run. The run's part is the end of its id: an id starts with the time, so two runs of one minute would
 * share its beginning.
 */
export function runNames(name: string, runId: string): RunNames {
  const run = runId.replace(/[^A-Za-z0-9]/g, "").slice(-8);
  return { name, aside: `${name}-tidemark-${run}-previous`, next: `${name}-tidemark-${run}-next` };
}

const leftoverPattern = /^(.{1,250})-tidemark-[A-Za-z0-9]{1,8}-(previous|next)$/;

/** Whose leftover a container with this name is, or null for a container that no run has named. */
export function leftoverOf(name: string): { name: string; role: "previous" | "next" } | null {
  const match = leftoverPattern.exec(name);
  if (match === null) return null;
  return { name: match[1] ?? "", role: match[2] === "previous" ? "previous" : "next" };
}

export function isOwnLabel(key: string): boolean {
  return key.startsWith(ownPrefix);
}

/** The run that made a container, or null. */
export function runOf(labels: unknown): string | null {
  return stringMapAt(labels)[ownLabels.run] ?? null;
}

export function ownLabelsFor(runId: string, name: string, previousId: string | null): RawObject {
  return {
    [ownLabels.run]: runId,
    [ownLabels.role]: "next",
    [ownLabels.name]: name,
    ...(previousId === null ? {} : { [ownLabels.previous]: previousId }),
  };
}

/** A container's own name among the ones that links give it (`/other/alias`). */
export function nameInList(summary: ContainerSummary): string {
  const names = (summary.Names ?? []).map((each) => each.replace(/^\//, ""));
  return names.find((each) => !each.includes("/")) ?? names[0] ?? summary.Id.slice(0, 12);
}
