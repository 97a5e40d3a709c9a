import * as v from "valibot";

/** Releases that are remembered, the newest first: as many as are read in one check. */
export const maxRemembered = 1_000;

/** The form of what is remembered; another one means that nothing is. */
const releasesForm = "gitea-releases-1";

/** One release that an earlier check has read. */
export interface Remembered {
  stage: "release" | "prerelease";
  /** It was handed over: whether it is still stored is its keeper's business, and it is not fetched for that again. */
  was_returned: boolean;
}

/** What a check remembers of the list that it read, so that the next one reads its newest page alone. */
export interface ReleaseMemo {
  seen: ReadonlyMap<string, Remembered>;
  /** How many releases the forge had. */
  total: number | null;
  /** The depth of that check. */
  limit: number;
  /** The earliest publish time that was read, milliseconds UTC. */
  oldest: number | null;
  /** The list was read to its end. */
  is_whole: boolean;
  /** It was read as far as a check ever reads. */
  is_exhausted: boolean;
}

const StoredReleases = v.object({
  form: v.literal(releasesForm),
  total: v.nullable(v.number()),
  limit: v.number(),
  oldest: v.nullable(v.number()),
  is_whole: v.boolean(),
  is_exhausted: v.boolean(),
  seen: v.array(v.tuple([v.string(), v.picklist(["release", "prerelease"]), v.boolean()])),
});

export function parseReleaseMemo(text: string | null): ReleaseMemo | null {
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null; // nothing of ours: the list is read anew
  }
  const stored = v.safeParse(StoredReleases, json);
  if (!stored.success) return null;
  const { form: _form, ...memory } = stored.output;
  const seen = new Map(memory.seen.map(([tag, stage, was_returned]) => [tag, { stage, was_returned }]));
  return { ...memory, seen };
}

export function formatReleaseMemo({ seen, ...memory }: ReleaseMemo): string {
  const list = [...seen].slice(0, maxRemembered).map(([tag, { stage, was_returned }]) => [tag, stage, was_returned]);
  return JSON.stringify({ form: releasesForm, ...memory, seen: list });
}
