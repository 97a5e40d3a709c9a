import { eq, inArray, sql } from "drizzle-orm";
import type { Writer } from "../../db/client.ts";
import { releases, tracker_sources } from "../../db/tables/trackers.ts";

/** Forgets a tracker's release notes, so that the next checks take them from where its settings say now. */
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
