import { NotesDialog, NotesPage, NotesPart } from "../../../templates/trackers/notes.tsx";
import type { Services } from "../../services.ts";
import type { NotesView } from "../../trackers/notes/schema.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { renderNotes } from "./render-notes.ts";
import { isFragmentRequest, respondHtml } from "./respond.ts";

/** Of all versions on one page together; the rest is available upstream or through the API. */
const maxRenderedCharacters = 262_144;

/** The notes of one version, or of all between two: as a page, or for htmx as a dialog or section. */
export function notesPages(app: App, { trackers }: Services, page: PageSettings): void {
  app.get("/trackers/:name/notes", async (c) => {
    const ctx = await pageContext(c, page);
    const given = Object.entries(c.req.query()).filter(([name, value]) => asked.includes(name) && value !== "");
    const view = await trackers.notesBetween(c.req.param("name"), Object.fromEntries(given));
    const props = { ctx, view, rendered: await renderAll(view) };
    if (!isFragmentRequest(c)) return respondHtml(c, <NotesPage {...props} />);
    const isDialog = (c.req.header("hx-target") ?? "").includes("dialog");
    return respondHtml(c, isDialog ? <NotesDialog {...props} /> : <NotesPart {...props} />);
  });
}

const asked = ["from", "to", "channel", "source"];

async function renderAll({ versions }: NotesView): Promise<ReadonlyMap<string, string>> {
  const rendered = new Map<string, string>();
  let room = maxRenderedCharacters;
  for (const { release_id, notes } of versions) {
    if (notes === null || notes.trim() === "" || room <= 0) continue;
    room -= notes.length;
    rendered.set(release_id, await renderNotes(notes));
  }
  return rendered;
}
