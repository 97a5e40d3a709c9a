import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../db/client.ts";
import { RecentMap } from "../../recent-map.ts";
import { findBreakingChanges } from "../../versions/breaking-changes.ts";
import { findSecurityFixes } from "../../versions/security-fixes.ts";
import { releaseRows, releasesByIds } from "../releases/queries.ts";

/** How many lines of a release's notes announce what. */
export interface NotesMarks {
  breaking: number;
  security: number;
}

/** Notes whose marks are remembered, by their digest: a few pages of history. */
const maxRemembered = 2_000;

/** Counts the marked lines of notes. The same notes are read once. */
export function notesMarks({ db }: { db: Database }) {
  const remembered = new RecentMap<string, NotesMarks>(maxRemembered);

  const read = async (id: string, digest: string): Promise<NotesMarks> => {
    const known = remembered.get(digest);
    if (known !== undefined) return known;
    // Long notes take milliseconds.
    await nextTurn();
    const notes = (await releaseRows.find(db.read, id))?.notes ?? "";
    const marks = { breaking: findBreakingChanges(notes).length, security: findSecurityFixes(notes).length };
    remembered.set(digest, marks);
    return marks;
  };

  return {
    /** By the release's id; those without marks are left out. */
    notesMarks: async (ids: readonly string[]): Promise<ReadonlyMap<string, NotesMarks>> => {
      const found = new Map<string, NotesMarks>();
      for (const { id, notes_digest } of await releasesByIds(db.read, ids)) {
        const marks = notes_digest === null ? null : await read(id, notes_digest);
        if (marks !== null && marks.breaking + marks.security > 0) found.set(id, marks);
      }
      return found;
    },
  };
}
