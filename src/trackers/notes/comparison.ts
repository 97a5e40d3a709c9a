import { distanceBehind, type KnownHistory } from "../../versions/behind.ts";
import { judgeRelease } from "../releases/judge.ts";
import type { ReleaseFactsRow } from "../releases/queries.ts";
import { digestOf } from "../releases/same-build.ts";
import type { BehindView } from "../schema.ts";
import type { ChannelRow } from "../source-queries.ts";
import { compareTo, type Known, linksOf, type NotesOptions, type Version } from "./known.ts";
import type { ComparedVersion, ComparisonView, NotesView } from "./schema.ts";

export interface ComparisonOptions extends NotesOptions {
  /** Everything that is stored of a channel, the latest first. */
  knownVersions: (sourceId: string, channel: string) => Promise<KnownHistory>;
}

/** The newest version below the tag; null if there is none. */
export function nameBefore(versions: readonly Version[], tag: string): string | null {
  return versions.find((version) => (compareTo(version, tag) ?? 0) < 0)?.name ?? null;
}

/** One end of a comparison: the requested version, with its known releases. */
interface End {
  tag: string;
  releases: readonly ReleaseFactsRow[];
  view: ComparedVersion | null;
}

function endOf(tag: string | null, known: Known): End | null {
  if (tag === null) return null;
  const version = known.versions.find((each) => compareTo(each, tag) === 0) ?? null;
  if (version === null) return { tag, releases: [], view: null };
  const { name, releases } = version;
  const told = releases.flatMap(({ published_at }) => published_at ?? []);
  const published_at = told.length === 0 ? null : Math.min(...told);
  // One variant's size: that of the requested tag, else the first known one.
  const sized = releases.filter(({ size_bytes }) => size_bytes !== null);
  const { size_bytes = null, size_platform = null } = sized.find((row) => row.tag === tag) ?? sized[0] ?? {};
  const view = { version: name, published_at, links: linksOf(version, known), size_bytes, size_platform };
  return { tag, releases, view };
}

/** Over the versions of the first channel that has the newer one, preferably with the older one too. */
async function distanceOf(
  { knownVersions }: ComparisonOptions,
  older: End,
  newer: End,
  { chosen, channels, channel: name }: Known,
): Promise<BehindView | null> {
  const takes = ({ releases }: End, channel: ChannelRow) =>
    releases.find((row) => row.source_id === channel.source_id && judgeRelease(row, channel).accepted) ?? null;
  const possible = channels
    .filter((channel) => chosen.some(({ id }) => id === channel.source_id) && (name ?? channel.name) === channel.name)
    .flatMap((channel) => {
      const [start, end] = [takes(older, channel), takes(newer, channel)];
      return end === null ? [] : [{ channel, start, end }];
    });
  const best = possible.find(({ start }) => start !== null) ?? possible[0];
  if (best === undefined) return null;
  const { channel, start, end } = best;
  const history = await knownVersions(channel.source_id, channel.name);
  return distanceBehind(named(start) ?? { tag: older.tag }, named(end) ?? { tag: newer.tag }, history);
}

function named(row: ReleaseFactsRow | null): { tag: string; digest: string | null } | null {
  return row === null ? null : { tag: row.tag, digest: digestOf(row.revision) };
}

/** Each source's own comparison of the two. */
function comparisonPages(older: End, newer: End, { sources, pages }: Known): ComparisonView["comparison_pages"] {
  return sources.flatMap(({ id, key }) => {
    const [start, end] = [older, newer].map(({ releases }) => releases.find((row) => row.source_id === id));
    if (start === undefined || end === undefined || start.tag === end.tag) return [];
    const url = pages.comparison(start, end);
    return url === null ? [] : [{ source_key: key, url }];
  });
}

/** The notes between two versions, with what is known of both ends. */
export async function comparisonOf(
  options: ComparisonOptions,
  notes: NotesView,
  known: Known,
): Promise<ComparisonView> {
  const [start, end] = [endOf(notes.from, known), endOf(notes.to, known)];
  const [older, newer] = notes.direction === "down" ? [end, start] : [start, end];
  const hasBoth = older !== null && newer !== null && notes.direction !== "same";
  return {
    ...notes,
    from_version: start?.view ?? null,
    to_version: end?.view ?? null,
    distance: hasBoth ? await distanceOf(options, older, newer, known) : null,
    comparison_pages: hasBoth ? comparisonPages(older, newer, known) : [],
  };
}
