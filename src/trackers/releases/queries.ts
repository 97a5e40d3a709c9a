import { and, desc, eq, getTableColumns, inArray, isNull, lt, or, sql } from "drizzle-orm";
import type { Reader, Writer } from "../../db/client.ts";
import { preparedFor, rowsAmong } from "../../db/prepared.ts";
import { rowsOf } from "../../db/rows.ts";
import { releases, tracker_sources } from "../../db/tables/trackers.ts";

export type ReleaseRow = typeof releases.$inferSelect;
/** A release without its notes, which can be long. */
export type ReleaseFactsRow = Omit<ReleaseRow, "notes">;

/** More than a tracker can have: the settings allow 20 sources with 10 channels of 1,000 versions. */
const maxReleasesRead = 250_000;

const { notes: _notes, ...releaseFacts } = getTableColumns(releases);

const releasesOfOne = preparedFor((read: Reader) =>
  read
    .select(releaseFacts)
    .from(releases)
    .where(eq(releases.source_id, sql.placeholder("source_id")))
    .limit(maxReleasesRead)
    .prepare(),
);

export async function releasesOf(read: Reader, sourceIds: readonly string[]): Promise<ReleaseFactsRow[]> {
  const [first, ...more] = sourceIds;
  if (first === undefined) return [];
  if (more.length === 0) return await releasesOfOne(read).all({ source_id: first });
  return await read
    .select(releaseFacts)
    .from(releases)
    .where(inArray(releases.source_id, [...sourceIds]))
    .limit(maxReleasesRead);
}

export const releasesByIds = rowsAmong((read, isAmong) =>
  read.select(releaseFacts).from(releases).where(isAmong(releases.id)),
);

/** The releases of one version in several sources. */
export async function releasesOfVersion(
  read: Reader,
  sourceIds: readonly string[],
  version: string,
): Promise<ReleaseFactsRow[]> {
  if (sourceIds.length === 0) return [];
  return await read
    .select(releaseFacts)
    .from(releases)
    .where(and(inArray(releases.source_id, [...sourceIds]), eq(releases.version, version)));
}

/** The releases of these sources with any of these builds. */
export async function releasesOfRevisions(
  read: Reader,
  sourceIds: readonly string[],
  revisions: readonly string[],
): Promise<Pick<ReleaseFactsRow, "source_id" | "tag" | "revision">[]> {
  if (sourceIds.length === 0 || revisions.length === 0) return [];
  return await read
    .select({ source_id: releases.source_id, tag: releases.tag, revision: releases.revision })
    .from(releases)
    .where(and(inArray(releases.source_id, [...sourceIds]), inArray(releases.revision, [...revisions])));
}

export interface ReleasePosition {
  first_observed_at: number;
  id: string;
}

/** Over all trackers, last observed first. */
export async function listReleasesBefore(
  read: Reader,
  before: ReleasePosition | null,
  limit: number,
): Promise<ReleaseFactsRow[]> {
  const at = releases.first_observed_at;
  return await read
    .select(releaseFacts)
    .from(releases)
    .where(
      before === null
        ? undefined
        : or(lt(at, before.first_observed_at), and(eq(at, before.first_observed_at), lt(releases.id, before.id))),
    )
    .orderBy(desc(at), desc(releases.id))
    .limit(limit);
}

/** Stores the size of a release whose size is not known yet, by its tag or its build. */
export async function recordSize(
  tx: Writer,
  sourceId: string,
  tagOrDigest: string,
  { bytes, platform }: { bytes: number; platform: string },
): Promise<void> {
  await tx
    .update(releases)
    .set({ size_bytes: bytes, size_platform: platform })
    .where(
      and(
        eq(releases.source_id, sourceId),
        or(eq(releases.tag, tagOrDigest), eq(releases.revision, tagOrDigest)),
        isNull(releases.size_bytes),
      ),
    );
}

export const releaseRows = rowsOf(releases, "release");

export async function deleteReleases(tx: Writer, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.delete(releases).where(inArray(releases.id, [...ids]));
}

export async function deleteReleasesOf(tx: Writer, sourceId: string): Promise<void> {
  await tx.delete(releases).where(eq(releases.source_id, sourceId));
}

/** Deletes a tracker's release notes, so that the next checks read them from the new place. */
export async function clearNotes(tx: Writer, trackerId: string): Promise<void> {
  const sources = tx
    .select({ id: tracker_sources.id })
    .from(tracker_sources)
    .where(eq(tracker_sources.tracker_id, trackerId));
  await tx
    .update(releases)
    .set({ notes: sql`null`, notes_digest: null, notes_error: null })
    .where(inArray(releases.source_id, sources));
}
