import type { Writer } from "../../db/client.ts";
import type { AddSourceToEvent, RecordEvent, ReleaseFacts } from "../../notifications/schema.ts";
import { classify } from "../../versions/classify.ts";
import { maturityOf } from "../../versions/maturity.ts";
import { lineOf, olderThan } from "../../versions/older-lines.ts";
import type { TrackerRow } from "../queries.ts";
import { displayVersion, usesAppVersions } from "../releases/display.ts";
import { judgeRelease, latestOfChannel, membersOf } from "../releases/judge.ts";
import { livingBeside, newestBeside, remarkOn } from "../releases/newest.ts";
import { type ReleaseFactsRow, releaseRows } from "../releases/queries.ts";
import { leadingTags } from "../releases/same-build.ts";
import type { ChannelRow, SourceRow } from "../source-queries.ts";

/** Longer than any message, so that the sender knows there is more. */
const maxEventNotesCharacters = 8_192;

/** A tracker's releases over all its sources. */
export interface Content {
  sources: readonly SourceRow[];
  channels: readonly ChannelRow[];
  releases: readonly ReleaseFactsRow[];
}

/** Notifications supply it. */
export interface Announcing {
  recordEvent: RecordEvent;
  addSourceToEvent: AddSourceToEvent;
}

export interface AnnounceInput extends Announcing {
  tracker: TrackerRow;
  /** The source of the judged channel. */
  source: SourceRow;
  content: Content;
}

/** Releases of other sources with the same version, in a channel of the same name. */
function twinsOf(content: Content, channel: ChannelRow, release: ReleaseFactsRow): ReleaseFactsRow[] {
  const byApplication = usesAppVersions(content.sources);
  const version = displayVersion(release, byApplication);
  const others = content.channels.filter(
    (other) => other.name === channel.name && other.source_id !== channel.source_id,
  );
  return content.releases.filter(
    (candidate) =>
      displayVersion(candidate, byApplication) === version &&
      others.some((other) => other.source_id === candidate.source_id && judgeRelease(candidate, other).accepted),
  );
}

/** Adds a source to the event that announced a version, under any of its names; false when there is none. */
async function addToEvent(
  tx: Writer,
  input: AnnounceInput,
  channel: ChannelRow,
  same: readonly ReleaseFactsRow[],
): Promise<boolean> {
  for (const version of new Set(same.map((release) => release.version))) {
    const announced = { tracker_id: input.tracker.id, channel: channel.name, version };
    if (await input.addSourceToEvent(tx, announced, input.source.key)) return true;
  }
  return false;
}

/** Other releases of the channel's source with the same version: `v1.2.3` beside `1.2.3`, or another chart of one application. */
function doublesOf(content: Content, channel: ChannelRow, release: ReleaseFactsRow): ReleaseFactsRow[] {
  const byApplication = usesAppVersions(content.sources);
  const version = displayVersion(release, byApplication);
  return content.releases.filter(
    (own) =>
      own.source_id === channel.source_id &&
      own.id !== release.id &&
      displayVersion(own, byApplication) === version &&
      judgeRelease(own, channel).accepted,
  );
}

/** `others` have the same version: a release without notes takes theirs, with their link. */
async function releaseFactsOf(
  tx: Writer,
  input: AnnounceInput,
  channel: ChannelRow,
  release: ReleaseFactsRow,
  others: readonly ReleaseFactsRow[] = [],
): Promise<Omit<ReleaseFacts, "remark" | "previous_version" | "also">> {
  const noted = [release, ...others].find(({ notes_digest }) => notes_digest !== null);
  const full = noted === undefined ? null : await releaseRows.find(tx, noted.id);
  return {
    tracker: input.tracker.name,
    channel: channel.name,
    channel_type: channel.type,
    version: release.version,
    tag: release.tag,
    maturity: maturityOf(classify(release.tag), release.stage === "prerelease"),
    sources: [input.source.key],
    url: noted?.url ?? release.url ?? others.find(({ url }) => url !== null)?.url ?? null,
    notes: full?.notes?.slice(0, maxEventNotesCharacters) ?? null,
    previous_revision: release.previous_revision,
    revision: release.revision,
  };
}

/** A check's findings for the judged channel. */
export interface FoundInChannel {
  latest: ReleaseFactsRow;
  previous: ReleaseFactsRow | null;
  /** Releases that may become the latest. */
  candidates: readonly ReleaseFactsRow[];
  /** Releases that appeared since the previous check. */
  fresh: readonly ReleaseFactsRow[];
}

/**
 * What to announce: the latest, or the highest version when both just appeared and a patch of an older line was published after it.
 * Includes the version before it, within the same line for an older line.
 */
function newsOf({ latest, previous, candidates, fresh }: FoundInChannel, channel: ChannelRow) {
  const highest = (rows: readonly ReleaseFactsRow[]) => latestOfChannel(rows, channel, "semantic");
  const living = livingBeside(latest, candidates);
  const newest = newestBeside(latest, candidates, channel);
  const subject = fresh.includes(newest) && olderThan(latest.tag, newest.tag) !== null ? newest : latest;
  const remark = remarkOn(subject, newest);
  const known = candidates.filter((row) => !fresh.includes(row));
  if (remark?.code === "older_line") {
    const ofLine = known.filter((row) => lineOf(row.tag) === lineOf(subject.tag));
    const before = highest(ofLine.filter((row) => olderThan(row.tag, subject.tag) !== null));
    return { subject, remark, before };
  }
  const highestBefore = highest(known.filter((row) => living.includes(row)));
  const isPast = previous !== null && highestBefore !== null && olderThan(previous.tag, highestBefore.tag) !== null;
  return { subject, remark, before: isPast ? highestBefore : previous };
}

/** Announces a channel's new latest once per tracker, naming the others that appeared since the previous check. */
export async function announceNew(
  tx: Writer,
  input: AnnounceInput,
  channel: ChannelRow,
  found: FoundInChannel,
): Promise<void> {
  const { content } = input;
  const { fresh } = found;
  if (fresh.length === 0) return;
  const { subject, remark, before } = newsOf(found, channel);
  if (!fresh.includes(subject)) return;
  const twins = twinsOf(content, channel, subject);
  const doubles = doublesOf(content, channel, subject);
  // A new chart of an application that was already announced is news by itself.
  const isNewChart = subject.app_version !== null && doubles.length > 0;
  const same = isNewChart ? [subject] : [subject, ...twins, ...doubles];
  if (await addToEvent(tx, input, channel, same)) return;
  // Another source has it and did not announce it, so it predates the tracker. If all sources must agree, this is the first time they do.
  if (twins.length > 0 && !channel.requires_agreement && !isNewChart) return;
  const members = membersOf(fresh, channel, input.tracker.sorting);
  const leads = leadingTags(members);
  const also = members
    .filter(({ tag }) => leads.get(tag) === tag && tag !== leads.get(subject.tag))
    .filter((release) => release !== subject && twinsOf(content, channel, release).length === 0)
    .map((release) => release.version);
  const facts = await releaseFactsOf(tx, input, channel, subject, twins);
  const keys = new Map(content.sources.map(({ id, key }) => [id, key]));
  const shownBy = channel.requires_agreement ? twins.flatMap((twin) => keys.get(twin.source_id) ?? []) : [];
  await input.recordEvent(tx, {
    kind: "new_release",
    tracker_id: input.tracker.id,
    facts: {
      ...facts,
      remark,
      sources: [...new Set([...facts.sources, ...shownBy])],
      previous_version: before?.version ?? null,
      also,
    },
  });
}

/** Announces a known release with a new revision, unless another source already announced the same build. */
export async function announceRepublished(
  tx: Writer,
  input: AnnounceInput,
  channel: ChannelRow,
  release: ReleaseFactsRow,
): Promise<void> {
  const twins = twinsOf(input.content, channel, release);
  // Another source already has the new build: it was announced.
  if (twins.some((twin) => twin.revision === release.revision && twin.republished_at !== null)) return;
  const facts = await releaseFactsOf(tx, input, channel, release);
  await input.recordEvent(tx, {
    kind: "republish",
    tracker_id: input.tracker.id,
    facts: { ...facts, remark: null, previous_version: null, also: [] },
  });
}
