import type { ContainerSummary } from "./objects.ts";
import { type RawObject, stringMapAt } from "./raw.ts";

/** The labels of a container that a run created. Labels cannot be added later, so the previous one is marked by its name. */
export const ownLabels = {
  run: "tidemark.run",
  role: "tidemark.role",
  name: "tidemark.name",
  previous: "tidemark.previous",
  /** On a previous container that a run recreated from its snapshot, because somebody had removed it. */
  remade: "tidemark.remade",
} as const;

const ownPrefix = "tidemark.";

export interface RunNames {
  /** The target's own name. */
  name: string;
  /** The previous container's name while the run can still restore it. */
  aside: string;
  /** The new container's name until the target's name is free. */
  next: string;
}

/**
 * The three names of a run, with the end of the run's ID: IDs start with the time, so two runs of the same minute would
 * share their beginning.
 */
export function runNames(name: string, runId: string): RunNames {
  const run = runId.replace(/[^A-Za-z0-9]/g, "").slice(-8);
  return { name, aside: `${name}-tidemark-${run}-previous`, next: `${name}-tidemark-${run}-next` };
}

const leftoverPattern = /^(.{1,250})-tidemark-[A-Za-z0-9]{1,8}-(previous|next)$/;

/** Which run left a container with this name, or null for a name that no run gave. */
export function leftoverOf(name: string): { name: string; role: "previous" | "next" } | null {
  const match = leftoverPattern.exec(name);
  if (match === null) return null;
  return { name: match[1] ?? "", role: match[2] === "previous" ? "previous" : "next" };
}

export function isOwnLabel(key: string): boolean {
  return key.startsWith(ownPrefix);
}

/** The run that created a container, or null. */
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

/** A container's own name among those that links give it (`/other/alias`). */
export function nameInList(summary: ContainerSummary): string {
  const names = (summary.Names ?? []).map((each) => each.replace(/^\//, ""));
  return names.find((each) => !each.includes("/")) ?? names[0] ?? summary.Id.slice(0, 12);
}
