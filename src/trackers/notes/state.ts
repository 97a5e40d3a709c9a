import { releasesImages } from "../../sources/source.ts";
import { wasReadSince } from "../releases/read-since.ts";
import type { SourceRow } from "../source-queries.ts";
import type { Known, Version } from "./known.ts";
import type { NotesState } from "./schema.ts";

/** How far back a source lists versions: the place of its oldest one, with everything in reach if it lists none at all. */
function reachOf({ id }: SourceRow, { versions, rows }: Known): number {
  if (!rows.some((row) => row.source_id === id)) return versions.length;
  return versions.findLastIndex(({ releases }) => releases.some((row) => row.source_id === id));
}

/** Whether a version has notes, has none, or it is not known yet. */
export function notesState(version: Version, known: Known): NotesState {
  const { releases } = version;
  if (releases.some((row) => row.notes_digest !== null)) return "published";
  if (known.settings.source === "changelog") return "unknown";
  const sources = known.sources.filter(({ kind }) => !releasesImages(kind));
  if (sources.length === 0) return "no_source";
  const place = known.versions.indexOf(version);
  const isRead = (source: SourceRow) =>
    releases.some((row) => row.source_id === source.id) ||
    (wasReadSince(source, releases) && place <= reachOf(source, known));
  return sources.every(isRead) ? "none" : "unknown";
}
