import { createHash } from "node:crypto";
import { type Message, toText } from "../../messages/message.ts";
import type { UpstreamRelease } from "../../sources/source.ts";
import type { ReleaseFactsRow } from "./queries.ts";

/** 256 KiB, as stored. */
const maxNotesBytes = 262_144;
/** A build clock may be a day ahead; publish times further ahead would lead the order forever. */
const maxAheadMs = 86_400_000;

/** A release's notes from a changelog, or why it has none. */
export interface ChangelogNotes {
  notes: string | null;
  error: Message | null;
}

/** By tag, for the releases that were looked up; null where the releases' own notes apply. */
export type ChangelogFinding = ReadonlyMap<string, ChangelogNotes> | null;

function bounded(notes: string): string {
  if (notes.length * 3 <= maxNotesBytes) return notes;
  const { read } = new TextEncoder().encodeInto(notes, new Uint8Array(maxNotesBytes));
  return read < notes.length ? notes.slice(0, read) : notes;
}

/** The notes as stored; null for none, and for changelog notes that were not looked up. */
export function notesOf(release: UpstreamRelease, changelog: ChangelogFinding): string | null {
  const notes = changelog === null ? release.notes : (changelog.get(release.tag)?.notes ?? null);
  return notes === null ? null : bounded(notes);
}

/** Detects edited notes; null for none. */
function digestOf(notes: string | null): string | null {
  return notes === null ? null : createHash("sha256").update(notes).digest("base64url");
}

/**
 * A publish time, or null when it lies too far ahead, by `CountedTime.latest` and by when the release was first seen: a clock set back does
 * not invalidate a time that was believed before.
 */
export function publishTime(at: number | null, latest: number, firstObservedAt: number): number | null {
  return at !== null && at > Math.max(latest, firstObservedAt + maxAheadMs) ? null : at;
}

function listedFacts(
  release: UpstreamRelease,
  { latest, first_observed_at }: { latest: number; first_observed_at: number },
  changelog: ChangelogFinding,
) {
  return {
    version: release.version,
    stage: release.stage,
    published_at: publishTime(release.published_at, latest, first_observed_at),
    url: release.url,
    notes_digest: digestOf(notesOf(release, changelog)),
    notes_error: changelog?.get(release.tag)?.error ?? null,
    app_version: release.app_version ?? null,
    is_deprecated: release.is_deprecated ?? false,
  };
}

/** A new release as it is stored. */
export function newFacts(
  release: UpstreamRelease,
  place: { id: string; source_id: string; first_observed_at: number; latest: number },
  changelog: ChangelogFinding,
): ReleaseFactsRow {
  const { id, source_id, first_observed_at, latest } = place;
  return {
    id,
    source_id,
    tag: release.tag,
    ...listedFacts(release, { latest, first_observed_at }, changelog),
    revision: release.revision,
    previous_revision: null,
    first_observed_at,
    republished_at: null,
    source_revision: release.source_revision ?? null,
    labelled_version: release.labelled_version ?? null,
    size_bytes: release.size?.bytes ?? null,
    size_platform: release.size?.platform ?? null,
  };
}

/** A known release after another check. What could not be read this time stays. */
export function mergedFacts(
  known: ReleaseFactsRow,
  release: UpstreamRelease,
  latest: number,
  changelog: ChangelogFinding,
): ReleaseFactsRow {
  const { first_observed_at } = known;
  const next: ReleaseFactsRow = { ...known, ...listedFacts(release, { latest, first_observed_at }, changelog) };
  // A changelog is read once for each release.
  if (changelog !== null && !changelog.has(release.tag)) {
    next.notes_digest = known.notes_digest;
    next.notes_error = known.notes_error;
  }
  if (release.revision === null) next.published_at ??= known.published_at;
  next.revision = release.revision ?? known.revision;
  // An image's labels and size are read once for each build and do not apply to the next one.
  const isSameBuild = known.revision === null || next.revision === known.revision;
  next.source_revision = release.source_revision ?? (isSameBuild ? known.source_revision : null);
  next.labelled_version = release.labelled_version ?? (isSameBuild ? known.labelled_version : null);
  const size = release.size ?? null;
  next.size_bytes = size === null ? (isSameBuild ? known.size_bytes : null) : size.bytes;
  next.size_platform = size === null ? (isSameBuild ? known.size_platform : null) : size.platform;
  return next;
}

function isSameSaid(a: Message | null, b: Message | null): boolean {
  return a === null || b === null ? a === b : toText(a) === toText(b);
}

export function isSameRelease(a: ReleaseFactsRow, b: ReleaseFactsRow): boolean {
  return (
    a.version === b.version &&
    a.stage === b.stage &&
    a.published_at === b.published_at &&
    a.url === b.url &&
    a.revision === b.revision &&
    a.app_version === b.app_version &&
    a.is_deprecated === b.is_deprecated &&
    a.source_revision === b.source_revision &&
    a.labelled_version === b.labelled_version &&
    a.size_bytes === b.size_bytes &&
    a.size_platform === b.size_platform &&
    a.notes_digest === b.notes_digest &&
    isSameSaid(a.notes_error, b.notes_error)
  );
}
