import * as v from "valibot";
import type { ReleaseStage } from "../source.ts";

/** Entries that are remembered, the newest first: as many as are read on a first check. */
const maxRemembered = 1_000;
/** The form of the memory between checks; another name means that nothing is remembered. */
const form = "github-2";

/** One entry of the list, as it was read last. */
export interface Remembered {
  stage: ReleaseStage;
  /** Milliseconds UTC. */
  published_at: number | null;
}

/** What a check remembers of the list that it read, so that the next one reads its newest page alone. */
export interface Memo {
  /** Whether the list was of releases, or of the bare tags that stand in for them. */
  kind: "releases" | "tags";
  /** By tag, the newest page first. */
  seen: ReadonlyMap<string, Remembered>;
  /** How many of them were on the newest page. */
  page: number;
  /** Reading on would find nothing that is not among them. */
  is_whole: boolean;
}

const Stored = v.object({
  form: v.literal(form),
  kind: v.picklist(["releases", "tags"]),
  page: v.number(),
  is_whole: v.boolean(),
  seen: v.array(v.tuple([v.string(), v.picklist(["release", "prerelease", "tag"]), v.nullable(v.number())])),
});

/** What the last check left; null when it was the first, or when another version of Tidemark wrote it. */
export function parseMemo(text: string | null): Memo | null {
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null; // another kind of source wrote it: nothing is remembered
  }
  const stored = v.safeParse(Stored, json);
  if (!stored.success) return null;
  const seen = stored.output.seen.map(([tag, stage, published_at]) => [tag, { stage, published_at }] as const);
  return { ...stored.output, seen: new Map(seen) };
}

export function formatMemo(memory: Memo): string {
  const newest = [...memory.seen].slice(0, maxRemembered);
  const seen = newest.map(([tag, { stage, published_at }]) => [tag, stage, published_at]);
  return JSON.stringify({ form, ...memory, seen });
}
