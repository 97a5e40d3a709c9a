import * as v from "valibot";
import type { ChartVersion } from "./chart-version.ts";

/** The form of the memory between checks. */
const memoForm = "helm-1";
/** Of the whole memory, which may have 2 MiB. */
const maxMemoCharacters = 1_500_000;
/** Of the remembered notes of the first versions. */
const maxNotesCharacters = 400_000;
/** Of remembered versions that are no longer listed; the oldest are dropped first. */
const maxGoneCharacters = 32 * 1024;

const Row = v.tuple([
  v.string(),
  v.nullable(v.string()),
  v.nullable(v.string()),
  v.nullable(v.number()),
  v.nullable(v.string()),
  v.boolean(),
  v.nullable(v.string()),
]);
const Stored = v.object({
  form: v.literal(memoForm),
  of: v.string(),
  etag: v.nullable(v.string()),
  last_modified: v.nullable(v.string()),
  total: v.number(),
  repaired: v.string(),
  gone: v.array(v.string()),
  names: v.array(v.string()),
  others: v.array(v.string()),
  rows: v.array(Row),
});

/** What a source remembers of its last response, so that an unchanged one is not read again. */
export interface Memo {
  /** The chart and its repository: the memory of another one is not used. */
  of: string;
  etag: string | null;
  last_modified: string | null;
  /** How many versions upstream has. */
  total: number;
  /** The facts of the versions. */
  versions: readonly ChartVersion[];
  /** Listed versions without facts here. */
  names: readonly string[];
  /** Tags of a registry that are not charts. */
  others: readonly string[];
  /** Versions that are no longer listed: one that was missing for a while is not announced again. */
  gone: readonly string[];
  /** The version whose missing facts were last requested again. */
  repaired: string;
}

export function parseMemo(text: string | null, of: string): Memo | null {
  if (text === null || !text.startsWith(`{"form":"${memoForm}"`)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null; // incomplete: everything is requested again
  }
  const stored = v.safeParse(Stored, value);
  if (!stored.success || stored.output.of !== of) return null;
  const { rows, form: _, ...rest } = stored.output;
  const versions = rows.map(
    ([version, app_version, digest, created_at, url, is_deprecated, notes]): ChartVersion => ({
      version,
      app_version,
      digest,
      created_at,
      url,
      is_deprecated,
      notes,
    }),
  );
  return { ...rest, versions };
}

/** The memory within its bounds: notes are dropped first, then the last versions keep only their names. */
export function boundMemo(memo: Memo): Memo {
  let notes = 0;
  let characters = 4_096 + lengthOf(memo.names) + lengthOf(memo.gone) + lengthOf(memo.others);
  const versions: ChartVersion[] = [];
  const names = [...memo.names];
  for (const each of memo.versions) {
    notes += each.notes?.length ?? 0;
    const kept = notes > maxNotesCharacters ? { ...each, notes: null } : each;
    characters += JSON.stringify(kept).length;
    if (characters <= maxMemoCharacters) versions.push(kept);
    else names.push(each.version);
  }
  return { ...memo, versions, names: boundedNames(names, 256 * 1024) };
}

/** The first names that fit. */
function boundedNames(names: readonly string[], characters: number): readonly string[] {
  let used = 0;
  return names.filter((name) => {
    used += name.length + 3;
    return used <= characters;
  });
}

function lengthOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + name.length + 3, 0);
}

/** The versions that are no longer listed. */
export function goneAfter(memo: Memo | null, names: ReadonlySet<string>): readonly string[] {
  if (memo === null) return [];
  const before = [...memo.versions.map((each) => each.version), ...memo.names, ...memo.gone];
  return boundedNames(
    before.filter((name) => !names.has(name)),
    maxGoneCharacters,
  );
}

/** Every remembered version; null on a first check. */
export function seenBefore(memo: Memo | null): ReadonlySet<string> | null {
  if (memo === null) return null;
  return new Set([...memo.versions.map((each) => each.version), ...memo.names, ...memo.gone]);
}

/** An equal memory gives the same text, so that it is not stored again. */
export function formatMemo(memo: Memo): string {
  const { of, etag, last_modified, total, repaired, gone, names, others, versions } = memo;
  const rows = versions.map((each) => [
    each.version,
    each.app_version,
    each.digest,
    each.created_at,
    each.url,
    each.is_deprecated,
    each.notes,
  ]);
  return JSON.stringify({ form: memoForm, of, etag, last_modified, total, repaired, gone, names, others, rows });
}
