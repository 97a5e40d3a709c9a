import * as v from "valibot";

/** Releases that are remembered, the newest first: as many as are read in one check. */
export const maxRemembered = 1_000;
/** Names of bare tags that are remembered, the highest first; what lies below is never shown. */
const maxRememberedTags = 10_000;

/** The form of what is remembered; another one means that nothing is. */
const releasesForm = "gitea-releases-1";
const tagsForm = "gitea-tags-1";

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
const StoredTags = v.object({ form: v.literal(tagsForm), names: v.array(v.string()) });

function parseWith<S extends v.GenericSchema>(schema: S, text: string | null): v.InferOutput<S> | null {
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null; // nothing of ours: the list is read anew
  }
  const parsed = v.safeParse(schema, json);
  return parsed.success ? parsed.output : null;
}

export function parseReleaseMemo(text: string | null): ReleaseMemo | null {
  const stored = parseWith(StoredReleases, text);
  if (stored === null) return null;
  const { form: _form, ...memory } = stored;
  const seen = new Map(stored.seen.map(([tag, stage, was_returned]) => [tag, { stage, was_returned }]));
  return { ...memory, seen };
}

export function formatReleaseMemo({ seen, ...memory }: ReleaseMemo): string {
  const list = [...seen].slice(0, maxRemembered).map(([tag, { stage, was_returned }]) => [tag, stage, was_returned]);
  return JSON.stringify({ form: releasesForm, ...memory, seen: list });
}

/** The names of the bare tags that an earlier check has listed; null when none did. */
export function parseTagMemo(text: string | null): ReadonlySet<string> | null {
  const stored = parseWith(StoredTags, text);
  return stored === null ? null : new Set(stored.names);
}

/** Keeps what is still listed first, then what was listed once: a list that came short is no news when it is whole again. */
export function formatTagMemo(ordered: readonly string[], before: ReadonlySet<string> | null): string {
  const names = [...new Set([...ordered, ...(before ?? [])])].slice(0, maxRememberedTags);
  return JSON.stringify({ form: tagsForm, names });
}
