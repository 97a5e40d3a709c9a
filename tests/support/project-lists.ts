import type { DatedRelease, Sorting } from "../../src/versions/channel.ts";
import type { Aim } from "../../src/versions/maturity.ts";

export const judgedAims = ["stable", "prerelease", "beta", "canary"] as const satisfies readonly Aim[];

/** A project's tags and what is right, in the order of channel types that are asked for. */
export interface Project {
  name: string;
  /** Divided by blanks; `@2024-11-30` says when those behind it were published, an hour apart, and `@2024-11-30T12:00:00Z` a millisecond apart. Without one, no times are known. */
  tags: string;
  stable: string;
  prerelease?: string;
  beta?: string;
  canary?: string;
  /** What is taken instead, where that is wrong: `stable semantic`. By version is what names alone give too, unless `stable names` says otherwise. */
  misses?: Partial<Record<`${(typeof judgedAims)[number]} ${Sorting | "names"}`, string>>;
}

/** A project whose list was taken from somewhere: the repository, the path in it, the commit. */
export interface RealProject extends Project {
  from: string;
}

const hour = 60 * 60 * 1000;

export function releasesOf({ tags }: Project): DatedRelease[] {
  const releases: DatedRelease[] = [];
  let at: number | null = null;
  let step = hour;
  for (const word of tags.trim().split(/\s+/)) {
    if (word.startsWith("@")) {
      const isDay = !word.includes("T");
      at = Date.parse(isDay ? `${word.slice(1)}T00:00:00Z` : word.slice(1));
      step = isDay ? hour : 1;
    } else {
      releases.push({ tag: word, published_at: at, first_observed_at: 0 });
      if (at !== null) at += step;
    }
  }
  return releases;
}

/** What is taken where all is right but the documented misses. By names alone it is what is taken by version, unless a miss says otherwise. */
export function takenFrom(
  project: Project,
  aim: (typeof judgedAims)[number],
  by: Sorting | "names",
): string | undefined {
  const missed = project.misses?.[`${aim} ${by}`];
  return missed ?? (by === "names" ? takenFrom(project, aim, "semantic") : project[aim]);
}
