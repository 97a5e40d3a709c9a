import type { Database } from "../../db/client.ts";
import { parseInput } from "../../forms/issues.ts";
import { classify } from "../../versions/classify.ts";
import { compareVersions, orderTags } from "../../versions/order.ts";
import { trackerRows } from "../queries.ts";
import { displayVersion, plainVersion, usesAppVersions } from "../releases/display.ts";
import { judgeRelease } from "../releases/judge.ts";
import { type ReleaseFactsRow, releasesOf } from "../releases/queries.ts";
import type { SourceRegistry } from "../schema.ts";
import { type ChannelRow, channelsOf, type SourceRow, sourcesOf } from "../source-queries.ts";
import { releasePages } from "../upstreams/web-pages.ts";
import { NotesQuery, type NotesView, type VersionNotes } from "./schema.ts";
import { storedNotesSettings } from "./settings.ts";

/** The releases of one version, in the order of the sources. */
export interface Version {
  name: string;
  releases: readonly ReleaseFactsRow[];
}

/** The number and stage of a tag without its variant, to compare an image with a git tag; null when it has none. */
function coreOf(tag: string): string | null {
  const { shape, numbers, prerelease } = classify(tag);
  if (shape === null) return null;
  return prerelease.length === 0 ? numbers.join(".") : `${numbers.join(".")}-${prerelease.join(".")}`;
}

function compareTags(a: string, b: string): number | null {
  if (a === b || plainVersion(a) === plainVersion(b)) return 0;
  const exact = compareVersions(a, b);
  if (exact !== null) return exact;
  const [left, right] = [coreOf(a), coreOf(b)];
  return left === null || right === null ? null : compareVersions(left, right);
}

/** Negative when the version is older than the tag, 0 when equal; null when they cannot be compared. */
export function compareTo(version: Version, tag: string): number | null {
  const found = version.releases.flatMap((row) => [compareTags(row.tag, tag), compareTags(row.version, tag)]);
  return found.find((order) => order === 0) ?? found.find((order) => order !== null) ?? null;
}

export function directionOf(from: string | null, to: string | null): NotesView["direction"] {
  const order = from === null || to === null ? null : compareTags(from, to);
  if (order === null) return "unknown";
  return order === 0 ? "same" : order < 0 ? "up" : "down";
}

/** Versions after the older of the two, up to the newer; only the target when they cannot be compared. */
export function between(versions: readonly Version[], from: string | null, to: string): readonly Version[] {
  const direction = directionOf(from, to);
  if (from === null || direction === "same" || direction === "unknown") {
    return versions.filter((version) => compareTo(version, to) === 0).slice(0, 1);
  }
  const [older, newer] = direction === "up" ? [from, to] : [to, from];
  return versions.filter((version) => {
    const [after, until] = [compareTo(version, older), compareTo(version, newer)];
    return after !== null && until !== null && after > 0 && until <= 0;
  });
}

function isTaken(row: ReleaseFactsRow, channels: readonly ChannelRow[], name: string | undefined): boolean {
  return channels.some(
    (channel) =>
      channel.source_id === row.source_id &&
      (name === undefined || channel.name === name) &&
      judgeRelease(row, channel).accepted,
  );
}

export interface NotesOptions {
  db: Database;
  registry: SourceRegistry;
}

/** What is stored of a tracker, as far as a question is about it. */
export async function knownOf({ db, registry }: NotesOptions, name: string, query: unknown) {
  const { from = null, to: given, channel, source: key } = parseInput(NotesQuery, query);
  const tracker = await trackerRows.getByName(db.read, name);
  const sources = await sourcesOf(db.read, [tracker.id]);
  const ids = sources.map(({ id }) => id);
  const channels = await channelsOf(db.read, ids);
  const rows = await releasesOf(db.read, ids);
  const places = new Map(sources.map(({ id }, place) => [id, place]));
  const place = (row: ReleaseFactsRow) => places.get(row.source_id) ?? 0;
  // Notes of the same version in another source count too: a registry has none.
  const byApplication = usesAppVersions(sources);
  const groups = Map.groupBy(
    rows.toSorted((a, b) => place(a) - place(b)),
    (row) => displayVersion(row, byApplication),
  );
  const chosen = sources.filter((source) => key === undefined || source.key === key);
  const isMember = (row: ReleaseFactsRow) =>
    chosen.some(({ id }) => id === row.source_id) && isTaken(row, channels, channel);
  const versions = orderTags([...groups.keys()]).flatMap((name): Version[] => {
    const version = groups.get(name) ?? [];
    // A variant of an image (`1.2.3-alpine`) has the notes of its version.
    const core = coreOf(name);
    const others = core === null || core === name ? [] : (groups.get(core) ?? []);
    return version.some(isMember) ? [{ name, releases: [...version, ...others] }] : [];
  });
  const to = given ?? latestTag(chosen, channels, rows, channel);
  const settings = storedNotesSettings(tracker.release_notes);
  const pages = releasePages(registry, sources);
  return { from, to, channel, sources, chosen, channels, rows, versions, settings, pages };
}

export type Known = Awaited<ReturnType<typeof knownOf>>;

/** The pages of a version, in the order of the sources. */
export function linksOf({ releases }: Version, { sources, pages }: Known): VersionNotes["links"] {
  return sources.flatMap(({ id, key }) => {
    const own = releases.filter((row) => row.source_id === id).map((row) => pages.of(row));
    const url = own.find((page) => page !== null) ?? null;
    return url === null ? [] : [{ source_key: key, url }];
  });
}

/** The latest of the named channel, or else of the first channel of the first source. */
function latestTag(
  sources: readonly SourceRow[],
  channels: readonly ChannelRow[],
  rows: readonly ReleaseFactsRow[],
  name: string | undefined,
): string | null {
  for (const source of sources) {
    const own = channels.filter((channel) => channel.source_id === source.id);
    const wanted = own.filter((channel) => name === undefined || channel.name === name);
    const latest = wanted.find((channel) => channel.latest_release_id !== null);
    const row = rows.find(({ id }) => id === latest?.latest_release_id);
    if (row !== undefined) return row.tag;
  }
  return null;
}
