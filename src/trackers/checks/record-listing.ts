import type { Writer } from "../../db/client.ts";
import { newId } from "../../ids.ts";
import type { Listing } from "../../sources/source.ts";
import { chooseLatest, type Sorting } from "../../versions/channel.ts";
import { MAX_TEXT_CHARACTERS } from "../../versions/pattern.ts";
import type { BoundExecutors } from "../bound-executors.ts";
import type { TrackerRow } from "../queries.ts";
import { agreedReleases } from "../releases/agreement.ts";
import { type ChangelogFinding, isSameRelease, mergedFacts, newFacts, notesOf } from "../releases/facts.ts";
import { judgeRelease, latestOfChannel } from "../releases/judge.ts";
import { type NamedVersion, newestBeside } from "../releases/newest.ts";
import { deleteReleases, type ReleaseFactsRow, releaseRows, releasesOf } from "../releases/queries.ts";
import { type ChannelRow, channelRows, channelsOf, type SourceRow, sourcesOf } from "../source-queries.ts";
import { type AnnounceInput, type Announcing, announceNew, announceRepublished, type Content } from "./announce.ts";
import { buildsInUse, isInUse } from "./pins.ts";
import { surplusReleases } from "./retention.ts";

/** Who is notified of a check's findings. */
export interface CheckListeners extends Announcing {
  executors: BoundExecutors;
}

interface ListingInput {
  tracker: TrackerRow;
  /** As claimed: its baseline decides whether new releases are announced. */
  source: SourceRow;
  listing: Listing;
  changelog: ChangelogFinding;
  /** Tags within the fetch depth, without those requested by name. */
  placed: ReadonlySet<string>;
  now: number;
  /** See `CountedTime.latest`: later publish times are not believed. */
  latest: number;
  /** Version History Count. */
  keep: number;
  listeners: CheckListeners;
}

export interface Recorded {
  discovered: number;
  republished: number;
  /** Names longer than 256 characters match no pattern and are left out. */
  overlong: number;
}

interface Discovery {
  row: ReleaseFactsRow;
  appeared: boolean | undefined;
}

/** Stores a listing as the source's rows. Rows missing upstream stay; an unreadable revision keeps the known one. */
async function storeReleases(tx: Writer, input: ListingInput, stored: readonly ReleaseFactsRow[]) {
  const { source, now, latest, changelog } = input;
  const byTag = new Map(stored.map((row) => [row.tag, row]));
  const discovered: Discovery[] = [];
  const republished: ReleaseFactsRow[] = [];
  const restaged: ReleaseFactsRow[] = [];
  let changes = 0;
  let overlong = 0;
  for (const release of input.listing.releases) {
    if (release.tag.length > MAX_TEXT_CHARACTERS || release.version.length > MAX_TEXT_CHARACTERS) {
      overlong++;
      continue;
    }
    const notes = notesOf(release, changelog);
    const known = byTag.get(release.tag);
    if (known === undefined) {
      // A tag that existed before appears only now because the rules or the depth let it in.
      const first_observed_at = release.appeared === false ? Math.min(source.baseline_at ?? now, now) : now;
      const row = newFacts(release, { id: newId(now), source_id: source.id, first_observed_at, latest }, changelog);
      await releaseRows.insert(tx, { ...row, notes });
      byTag.set(row.tag, row);
      discovered.push({ row, appeared: release.appeared });
      continue;
    }
    const next = mergedFacts(known, release, latest, changelog);
    // Under another configuration a revision may differ without a republish.
    if (next.revision !== known.revision && known.revision !== null && source.baseline_at !== null) {
      next.previous_revision = known.revision;
      next.republished_at = now;
      republished.push(next);
    }
    if (known.stage === "prerelease" && next.stage === "release") restaged.push(next);
    if (!isSameRelease(known, next)) {
      const { id, ...columns } = next;
      await releaseRows.update(tx, id, next.notes_digest === known.notes_digest ? columns : { ...columns, notes });
      changes++;
    }
    byTag.set(next.tag, next);
  }
  return { rows: [...byTag.values()], discovered, republished, restaged, overlong, changes };
}

/** Everything the tracker's sources have, including what this check just wrote. */
async function contentOf(tx: Writer, tracker: Pick<TrackerRow, "id">): Promise<Content> {
  const sources = await sourcesOf(tx, [tracker.id]);
  const ids = sources.map((source) => source.id);
  return { sources, channels: await channelsOf(tx, ids), releases: await releasesOf(tx, ids) };
}

interface JudgeInput extends AnnounceInput, CheckListeners {
  /** The source's first check: it announces nothing and makes nothing new for the others. */
  is_baseline: boolean;
  now: number;
}

/** A check's findings in the source of the judged channel. */
interface Found {
  rows: readonly ReleaseFactsRow[];
  discovered: readonly Discovery[];
  republished: readonly ReleaseFactsRow[];
  /** Pre-releases that upstream now calls releases. */
  restaged: readonly ReleaseFactsRow[];
}

async function judgeChannel(tx: Writer, input: JudgeInput, channel: ChannelRow, found: Found): Promise<boolean> {
  const { source, now, content } = input;
  const isMember = (release: ReleaseFactsRow) => judgeRelease(release, channel).accepted;
  const candidates = agreedReleases(found.rows, channel, content);
  const latest = latestOfChannel(candidates, channel, input.tracker.sorting);
  const previous = found.rows.find((row) => row.id === channel.latest_release_id) ?? null;
  const isBaselined = source.baseline_at !== null && channel.baseline_at !== null;
  const appeared = found.discovered
    .filter(({ appeared }) => (appeared === undefined ? isBaselined : appeared && source.baseline_at !== null))
    .map(({ row }) => row)
    .concat(isBaselined ? found.restaged.filter((row) => row.id !== previous?.id) : [])
    .filter(isMember);
  // If all sources must agree, the latest may have been known for long: the last source to publish it makes it new.
  const isAgreed =
    channel.requires_agreement && isBaselined && !input.is_baseline && latest !== null && latest.id !== previous?.id;
  const fresh = channel.requires_agreement
    ? isAgreed && isAhead(latest, previous, { sorting: input.tracker.sorting, type: channel.type })
      ? [latest]
      : []
    : appeared;
  if (latest !== null) await announceNew(tx, input, channel, { latest, previous, candidates, fresh });
  const republished = found.republished.filter(isMember).filter((release) => candidates.includes(release));
  for (const release of republished) await announceRepublished(tx, input, channel, release);
  const hasChanged =
    (latest?.id ?? null) !== channel.latest_release_id || (latest?.revision ?? null) !== channel.latest_revision;
  const newest = newestOf(latest, candidates, channel);
  if (hasChanged || channel.baseline_at === null || newest?.tag !== channel.newest?.tag) {
    await channelRows.update(tx, channel.id, {
      latest_release_id: latest?.id ?? null,
      latest_revision: latest?.revision ?? null,
      newest,
      baseline_at: channel.baseline_at ?? now,
    });
  }
  return hasChanged || republished.length > 0;
}

function newestOf(
  latest: ReleaseFactsRow | null,
  candidates: readonly ReleaseFactsRow[],
  channel: ChannelRow,
): NamedVersion | null {
  if (latest === null) return null;
  const { tag, version } = newestBeside(latest, candidates, channel);
  return { tag, version };
}

/** Whether a channel was judged by its current rules and over everything it covers. */
export function isJudged({ baseline_at, latest_release_id, newest }: ChannelRow): boolean {
  return baseline_at !== null && (latest_release_id === null) === (newest === null);
}

/** Whether a version is newer than the previous latest: one that leads only because a newer one lost its agreement is not announced. */
function isAhead(
  latest: ReleaseFactsRow,
  previous: ReleaseFactsRow | null,
  { sorting, type }: { sorting: Sorting; type: ChannelRow["type"] },
): boolean {
  return previous === null || chooseLatest([previous, latest], sorting, type)?.id === latest.id;
}

/** Channels of the tracker's other sources that waited for this source to have a version. */
async function judgeWaiting(tx: Writer, input: JudgeInput): Promise<void> {
  const { content } = input;
  for (const source of content.sources) {
    if (source.id === input.source.id) continue;
    const rows = content.releases.filter((release) => release.source_id === source.id);
    const changed: string[] = [];
    for (const channel of content.channels) {
      if (channel.source_id !== source.id || !channel.requires_agreement) continue;
      const found = { rows, discovered: [], republished: [], restaged: [] };
      if (await judgeChannel(tx, { ...input, source }, channel, found)) changed.push(channel.name);
    }
    await input.executors.wake(tx, source.id, changed, input.now);
  }
}

async function prune(tx: Writer, input: ListingInput, rows: readonly ReleaseFactsRow[]) {
  const channels = await channelsOf(tx, [input.source.id]);
  // The version that a channel's latest is compared with is kept.
  const newest = new Set(channels.map((channel) => channel.newest?.tag));
  const { executors } = input.listeners;
  const bound = await executors.ofSource(tx, input.source.id);
  const builds = buildsInUse(bound, bound.length === 0 ? [] : await executors.snapshotsOn(tx, input.source.id));
  const surplus = surplusReleases({
    releases: rows,
    channels,
    sorting: input.tracker.sorting,
    keep: input.keep,
    isKept: (release) =>
      input.placed.has(release.tag) || newest.has(release.tag) || isInUse(input.source.kind, release, builds),
  });
  await deleteReleases(
    tx,
    surplus.map((release) => release.id),
  );
}

/**
 * Writes a listing and everything that follows, in the caller's transaction: rows, each channel's latest, events, retention, executors to
 * evaluate. A channel's first listing is a silent baseline.
 */
export async function recordListing(tx: Writer, input: ListingInput): Promise<Recorded> {
  const { source, tracker, now } = input;
  const channels = await channelsOf(tx, [source.id]);
  const found = await storeReleases(tx, input, await releasesOf(tx, [source.id]));
  const isQuiet = found.discovered.length === 0 && found.changes === 0 && channels.every(isJudged);
  if (!isQuiet) {
    const content = await contentOf(tx, tracker);
    const is_baseline = source.baseline_at === null || channels.some((channel) => channel.baseline_at === null);
    const judged: JudgeInput = { ...input.listeners, tracker, source, content, is_baseline, now };
    const changed: string[] = [];
    for (const channel of channels) {
      if (await judgeChannel(tx, judged, channel, found)) changed.push(channel.name);
    }
    await judgeWaiting(tx, judged);
    if (found.discovered.length > 0) await prune(tx, input, found.rows);
    await input.listeners.executors.wake(tx, source.id, changed, now);
  }
  return {
    discovered: found.discovered.length,
    republished: found.republished.length,
    overlong: found.overlong,
  };
}

/**
 * After an edit: recomputes the latest of each channel of a tracker from stored releases, without an event. Returns the names of the
 * changed channels, by the id of their source.
 */
export async function recomputeLatest(
  tx: Writer,
  tracker: Pick<TrackerRow, "id" | "sorting">,
): Promise<ReadonlyMap<string, string[]>> {
  const content = await contentOf(tx, tracker);
  const changed = new Map<string, string[]>();
  for (const channel of content.channels) {
    const rows = content.releases.filter((release) => release.source_id === channel.source_id);
    const candidates = agreedReleases(rows, channel, content);
    const latest = latestOfChannel(candidates, channel, tracker.sorting);
    const newest = newestOf(latest, candidates, channel);
    const isSame = (latest?.id ?? null) === channel.latest_release_id;
    if (isSame && newest?.tag === channel.newest?.tag) continue;
    await channelRows.update(tx, channel.id, {
      latest_release_id: latest?.id ?? null,
      latest_revision: latest?.revision ?? null,
      newest,
    });
    if (isSame) continue;
    changed.set(channel.source_id, [...(changed.get(channel.source_id) ?? []), channel.name]);
  }
  return changed;
}
