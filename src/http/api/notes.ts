import { NotesQuery, NotesView } from "../../trackers/notes/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";
import type { Route } from "./route.ts";

export function notesRoutes(services: { trackers: TrackerService }): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/trackers/{name}/notes",
      operation_id: "get_tracker_notes",
      summary: "Read the release notes of all versions between two, the newest first, as raw text from upstream",
      tag: "trackers",
      access: "read",
      query: NotesQuery,
      answer: { status: 200, description: "The versions with their notes and breaking changes", schema: NotesView },
      perform: ({ param, query }) => services.trackers.notesBetween(param("name"), query),
    },
  ];
}
