import type { Writer } from "../db/client.ts";
import { newId } from "../ids.ts";
import type { RecordEvent, ReleaseFacts } from "../notifications/schema.ts";
import type { Listing } from "../sources/source.ts";
import { MAX_TEXT_CHARACTERS } from "../versions/pattern.ts";
import {
  executorsOfSource,
  findReleaseEvent,
  snapshotsOnSource,
  updateEventFacts,
  wakeExecutors,
} from "./bound-queries.ts";
import { judgeRelease, latestOfChannel, membersOf, plainVersion } from "./judge.ts";
import { buildsInUse, isInUse } from "./pins.ts";
import type { TrackerRow } from "./queries.ts";
import { type ChangelogFinding, isSameRelease, mergedFacts, newFacts, notesOf } from "./release-facts.ts";
import {
  deleteReleases,
  findRelease,
  insertRelease,
  type ReleaseFactsRow,
  releasesOf,
  releasesOfVersion,
  updateReleaseRow,
} from "./release-queries.ts";
import { surplusReleases } from "./retention.ts";
import { type ChannelRow, channelsOf, type SourceRow, sourcesOf, updateChannelRow } from "./source-queries.ts";

interface ListingInput {
  tracker: TrackerRow;
  /** As it was claimed: its baseline says whether what is new is announced. */
  source: SourceRow;
  listing: Listing;
  changelog: ChangelogFinding;
  /** What was listed only because it was asked for by name. */
  watched: readonly string[];
  now: number;
  /** Version History Count. */
  keep: number;
  recordEvent: RecordEvent;
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

/** Upstream's answer in one source's rows. What upstream left out stays; a revision that could not be read keeps the known one. */
async function storeReleases(tx: Writer, input: ListingInput, stored: readonly ReleaseFactsRow[]) {
  const { source, now, changelog } = input;
  const byTag = new Map(stored.map((row) => [row.tag, row]));
  const discovered: Discovery[] = [];
  const republished: ReleaseFactsRow[] = [];
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
      // A tag that was there before is first seen now only because the rules or the depth let it in.
      const first_observed_at = release.appeared === false ? Math.min(source.baseline_at ?? now, now) : now;
      const row = newFacts(release, { id: newId(now), source_id: source.id, first_observed_at, now }, changelog);
      await insertRelease(tx, { ...row, notes });
      byTag.set(row.tag, row);
      discovered.push({ row, appeared: release.appeared });
      continue;
    }
    const next = mergedFacts(known, release, now, changelog);
    // Under another configuration a revision may differ without anything having been published.
    if (next.revision !== known.revision && known.revision !== null && source.baseline_at !== null) {
      next.previous_revision = known.revision;
      next.republished_at = now;
      republished.push(next);
    }
    if (!isSameRelease(known, next)) {
      const { id, ...columns } = next;
      await updateReleaseRow(tx, id, next.notes_digest === known.notes_digest ? columns : { ...columns, notes });
      changes++;
    }
    byTag.set(next.tag, next);
  }
  return { rows: [...byTag.values()], discovered, republished, overlong, changes };
}

/** Whether another source of the tracker already shows a version in a channel of the same type. */
async function findTwin(
  tx: Writer,
  input: ListingInput,
  channel: ChannelRow,
  release: ReleaseFactsRow,
): Promise<ReleaseFactsRow | null> {
  const others = (await sourcesOf(tx, [input.tracker.id])).filter((source) => source.id !== input.source.id);
  const ids = others.map((source) => source.id);
  const plain = plainVersion(release.version);
  const candidates: ReleaseFactsRow[] = [];
  for (const version of [plain, `v${plain}`, `V${plain}`]) {
    candidates.push(...(await releasesOfVersion(tx, ids, version)));
  }
  if (candidates.length === 0) return null;
  const channels = (await channelsOf(tx, ids)).filter((other) => other.type === channel.type);
  return (
    candidates.find((candidate) =>
      channels.some((other) => other.source_id === candidate.source_id && judgeRelease(candidate, other).accepted),
    ) ?? null
  );
}

async function addSourceToEvent(tx: Writer, input: ListingInput, channel: ChannelRow, version: string): Promise<void> {
  const plain = plainVersion(version);
  for (const written of [version, plain, `v${plain}`]) {
    const event = await findReleaseEvent(tx, input.tracker.id, { channel: channel.type, version: written });
    if (event === null) continue;
    const sources = Array.isArray(event.facts.sources) ? event.facts.sources : [];
    if (!sources.includes(input.source.key)) {
      await updateEventFacts(tx, event.id, { ...event.facts, sources: [...sources, input.source.key] });
    }
    return;
  }
}

async function releaseFactsOf(
  tx: Writer,
  input: ListingInput,
  channel: ChannelRow,
  release: ReleaseFactsRow,
): Promise<Omit<ReleaseFacts, "previous_version" | "also">> {
  const full = release.notes_digest !== null ? await findRelease(tx, release.id) : null;
  return {
    tracker: input.tracker.name,
    channel: channel.type,
    version: release.version,
    tag: release.tag,
    sources: [input.source.key],
    url: release.url,
    notes: full?.notes ?? null,
    previous_revision: release.previous_revision,
    revision: release.revision,
  };
}

/** Announces a channel's new latest once for the tracker, naming the others that appeared since the previous check. */
async function announceNew(
  tx: Writer,
  input: ListingInput,
  channel: ChannelRow,
  found: { latest: ReleaseFactsRow; previous: ReleaseFactsRow | null; fresh: readonly ReleaseFactsRow[] },
): Promise<void> {
  const { latest, previous } = found;
  if (!found.fresh.includes(latest)) return;
  if ((await findTwin(tx, input, channel, latest)) !== null) {
    await addSourceToEvent(tx, input, channel, latest.version);
    return;
  }
  const also: string[] = [];
  for (const release of membersOf(found.fresh, channel, input.tracker.sorting)) {
    if (release !== latest && (await findTwin(tx, input, channel, release)) === null) also.push(release.version);
  }
  const facts = await releaseFactsOf(tx, input, channel, latest);
  await input.recordEvent(tx, {
    kind: "new_release",
    tracker_id: input.tracker.id,
    facts: { ...facts, previous_version: previous?.version ?? null, also },
  });
}

async function announceRepublished(
  tx: Writer,
  input: ListingInput,
  channel: ChannelRow,
  release: ReleaseFactsRow,
): Promise<void> {
  const twin = await findTwin(tx, input, channel, release);
  // Another source has the new build already: it has been told.
  if (twin !== null && twin.revision === release.revision && twin.republished_at !== null) return;
  const facts = await releaseFactsOf(tx, input, channel, release);
  await input.recordEvent(tx, {
    kind: "republish",
    tracker_id: input.tracker.id,
    facts: { ...facts, previous_version: null, also: [] },
  });
}

async function judgeChannel(
  tx: Writer,
  input: ListingInput,
  channel: ChannelRow,
  found: {
    rows: readonly ReleaseFactsRow[];
    discovered: readonly Discovery[];
    republished: readonly ReleaseFactsRow[];
  },
): Promise<boolean> {
  const { source, now } = input;
  const isMember = (release: ReleaseFactsRow) => judgeRelease(release, channel).accepted;
  const latest = latestOfChannel(found.rows, channel, input.tracker.sorting);
  const isBaselined = source.baseline_at !== null && channel.baseline_at !== null;
  const fresh = found.discovered
    .filter(({ appeared }) => (appeared === undefined ? isBaselined : appeared && source.baseline_at !== null))
    .map(({ row }) => row)
    .filter(isMember);
  const republished = found.republished.filter(isMember);
  const previous = found.rows.find((row) => row.id === channel.latest_release_id) ?? null;
  if (latest !== null) await announceNew(tx, input, channel, { latest, previous, fresh });
  for (const release of republished) await announceRepublished(tx, input, channel, release);
  const hasChanged =
    (latest?.id ?? null) !== channel.latest_release_id || (latest?.revision ?? null) !== channel.latest_revision;
  if (hasChanged || channel.baseline_at === null) {
    await updateChannelRow(tx, channel.id, {
      latest_release_id: latest?.id ?? null,
      latest_revision: latest?.revision ?? null,
      baseline_at: channel.baseline_at ?? now,
    });
  }
  return hasChanged || republished.length > 0;
}

async function prune(
  tx: Writer,
  input: ListingInput,
  rows: readonly ReleaseFactsRow[],
  channels: readonly ChannelRow[],
) {
  const bound = await executorsOfSource(tx, input.source.id);
  const builds = buildsInUse(bound, bound.length === 0 ? [] : await snapshotsOnSource(tx, input.source.id));
  const watched = new Set(input.watched);
  const listed = new Set(input.listing.releases.map((release) => release.tag).filter((tag) => !watched.has(tag)));
  const surplus = surplusReleases({
    releases: rows,
    channels,
    sorting: input.tracker.sorting,
    keep: input.keep,
    isKept: (release) => listed.has(release.tag) || isInUse(release, builds),
  });
  await deleteReleases(
    tx,
    surplus.map((release) => release.id),
  );
}

/**
 * Writes what upstream said, and everything that follows from it, in the caller's transaction: rows, each channel's latest,
 * events, retention, executors to be evaluated. A channel's first listing is a silent baseline.
 */
export async function recordListing(tx: Writer, input: ListingInput): Promise<Recorded> {
  const { source, now } = input;
  const channels = await channelsOf(tx, [source.id]);
  const found = await storeReleases(tx, input, await releasesOf(tx, [source.id]));
  const isQuiet =
    found.discovered.length === 0 && found.changes === 0 && channels.every((channel) => channel.baseline_at !== null);
  if (!isQuiet) {
    const changed: ChannelRow["type"][] = [];
    for (const channel of channels) {
      if (await judgeChannel(tx, input, channel, found)) changed.push(channel.type);
    }
    if (found.discovered.length > 0) await prune(tx, input, found.rows, channels);
    await wakeExecutors(tx, source.id, changed, now);
  }
  return {
    discovered: found.discovered.length,
    republished: found.republished.length,
    overlong: found.overlong,
  };
}

/** After an edit: each channel's latest from what is stored, without an event. Returns the channels whose latest changed. */
export async function recomputeLatest(
  tx: Writer,
  sourceId: string,
  sorting: TrackerRow["sorting"],
): Promise<ChannelRow["type"][]> {
  const rows = await releasesOf(tx, [sourceId]);
  const changed: ChannelRow["type"][] = [];
  for (const channel of await channelsOf(tx, [sourceId])) {
    const latest = latestOfChannel(rows, channel, sorting);
    if ((latest?.id ?? null) === channel.latest_release_id) continue;
    await updateChannelRow(tx, channel.id, {
      latest_release_id: latest?.id ?? null,
      latest_revision: latest?.revision ?? null,
    });
    changed.push(channel.type);
  }
  return changed;
}
