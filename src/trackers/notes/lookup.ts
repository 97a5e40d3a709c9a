import { toldAs } from "../../messages/message.ts";
import { findBreakingChanges } from "../../versions/breaking-changes.ts";
import { findSecurityFixes } from "../../versions/security-fixes.ts";
import { releaseRows } from "../releases/queries.ts";
import { type ComparisonOptions, comparisonOf, nameBefore } from "./comparison.ts";
import { between, directionOf, type Known, knownOf, linksOf, type Version } from "./known.ts";
import type { BreakingStep, ComparisonView, NotesView, UpdateStep, VersionNotes } from "./schema.ts";
import { notesState } from "./state.ts";

const maxVersions = 50;
/** Of all notes together: room for four of the longest. */
const maxCharacters = 1_048_576;
/** Moves of one update; each reads as much. */
const maxSteps = 20;

function readingOf({ versions, omitted_count }: NotesView): BreakingStep["notes"] {
  const states = new Set(versions.map(({ notes_state }) => notes_state));
  if (states.has("no_source")) return "no_source";
  return states.has("unknown") || omitted_count > 0 ? "unread" : "read";
}

/** Stored release notes of one version or of all between two. Sends no request. */
export function notesLookup(options: ComparisonOptions) {
  const { db } = options;

  const notesOf = async (version: Version, known: Known): Promise<VersionNotes> => {
    const { name, releases } = version;
    const [first] = releases;
    const told = releases.find((row) => row.notes_digest !== null) ?? first;
    if (told === undefined) throw new Error("A version has at least one release");
    const full = told.notes_digest === null ? null : await releaseRows.find(db.read, told.id);
    const notes = full?.notes ?? null;
    const failure = releases.find((row) => row.notes_error !== null)?.notes_error ?? null;
    return {
      version: name,
      tag: (first ?? told).tag,
      release_id: told.id,
      source_key: known.sources.find((source) => source.id === told.source_id)?.key ?? "",
      published_at: told.published_at,
      url: told.url ?? releases.find((row) => row.url !== null)?.url ?? null,
      links: linksOf(version, known),
      notes,
      notes_state: notesState(version, known),
      ...toldAs("notes_error", notes === null ? failure : null),
      breaking_changes: notes === null ? [] : [...findBreakingChanges(notes)],
      security_fixes:
        notes === null ? [] : findSecurityFixes(notes).map(({ ids, ...fix }) => ({ ...fix, ids: [...ids] })),
    };
  };

  const notesFrom = async (name: string, from: string | null, known: Known): Promise<NotesView> => {
    const { to, versions } = known;
    const found = to === null ? [] : between(versions, from, to);
    const shown: VersionNotes[] = [];
    let room = maxCharacters;
    for (const version of found.slice(0, maxVersions)) {
      const notes = await notesOf(version, known);
      room -= notes.notes?.length ?? 0;
      if (room < 0) break;
      shown.push(notes);
    }
    return {
      tracker: name,
      from,
      to,
      direction: directionOf(from, to),
      versions: shown,
      omitted_count: found.length - shown.length,
    };
  };

  const notesBetween = async (name: string, query: unknown): Promise<NotesView> => {
    const known = await knownOf(options, name, query);
    return await notesFrom(name, known.from, known);
  };

  return {
    /** The notes of every version after `from` up to `to`, newest first; only of `to` without `from`. */
    notesBetween,

    /**
     * What breaks on the way as far as the stored notes say, and where they do not say all. Several services with the same move count once.
     */
    breakingIn: async (steps: readonly UpdateStep[]): Promise<readonly BreakingStep[]> => {
      const distinct = [...new Map(steps.map((step) => [JSON.stringify(step), step])).values()];
      const found: BreakingStep[] = [];
      for (const { tracker, ...asked } of distinct.slice(0, maxSteps)) {
        const view = await notesBetween(tracker, asked);
        const versions = view.versions.filter(({ breaking_changes }) => breaking_changes.length > 0);
        const notes = readingOf(view);
        if (view.direction === "up" && (versions.length > 0 || notes !== "read"))
          found.push({ tracker, versions, notes });
      }
      return found;
    },

    /** What changes from one version to another; without `from`, from the version before `to`. */
    comparison: async (name: string, query: unknown): Promise<ComparisonView> => {
      const known = await knownOf(options, name, query);
      const { to, versions } = known;
      const from = known.from ?? (to === null ? null : nameBefore(versions, to));
      const notes = await notesFrom(name, from, known);
      return await comparisonOf(options, notes, known);
    },

    /** The names of the versions that can be compared, the newest first; at most `limit`. */
    comparableVersions: async (name: string, query: unknown, limit: number): Promise<readonly string[]> =>
      (await knownOf(options, name, query)).versions.slice(0, limit).map((version) => version.name),
  };
}
