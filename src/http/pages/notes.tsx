import { ComparePage } from "../../../templates/trackers/compare.tsx";
import { NotesDialog, NotesPage, NotesPart } from "../../../templates/trackers/notes.tsx";
import type { Services } from "../../services.ts";
import type { NotesView } from "../../trackers/notes/schema.ts";
import type { App, AppContext } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { renderNotes } from "./render-notes.ts";
import { isFragmentRequest, respondHtml } from "./respond.ts";

/** Of all versions on one page together; the rest is available upstream or through the API. */
const maxRenderedCharacters = 262_144;

/** The notes of one version, or of all between two: as a page, or for htmx as a dialog or section; and the comparison of two versions. */
export function notesPages(app: App, { trackers }: Services, page: PageSettings): void {
  app.get("/trackers/:name/notes", async (c) => {
    const ctx = await pageContext(c, page);
    const view = await trackers.notesBetween(c.req.param("name"), questionOf(c));
    const props = { ctx, view, rendered: await renderAll(view) };
    if (!isFragmentRequest(c)) return respondHtml(c, <NotesPage {...props} />);
    const isDialog = (c.req.header("hx-target") ?? "").includes("dialog");
    return respondHtml(c, isDialog ? <NotesDialog {...props} /> : <NotesPart {...props} />);
  });

  app.get("/trackers/:name/compare", async (c) => {
    const ctx = await pageContext(c, page);
    const name = c.req.param("name");
    const question = questionOf(c);
    const kept = Object.fromEntries(Object.entries(question).filter(([name]) => keptNames.includes(name)));
    const view = await trackers.comparison(name, question);
    const choices = await trackers.comparableVersions(name, kept, maxChoices);
    return respondHtml(c, <ComparePage {...{ ctx, view, rendered: await renderAll(view), choices, kept }} />);
  });
}

const asked = ["from", "to", "channel", "source"];
const keptNames = ["channel", "source"];
/** Versions to choose from; an older one can still be named in the address. */
const maxChoices = 200;

/** What of the address is about versions; a field that was left blank is not. */
function questionOf(c: AppContext): Record<string, string> {
  return Object.fromEntries(
    Object.entries(c.req.query()).filter(([name, value]) => asked.includes(name) && value !== ""),
  );
}

async function renderAll({ versions }: Pick<NotesView, "versions">): Promise<ReadonlyMap<string, string>> {
  const rendered = new Map<string, string>();
  let room = maxRenderedCharacters;
  for (const { release_id, notes } of versions) {
    if (notes === null || notes.trim() === "" || room <= 0) continue;
    room -= notes.length;
    rendered.set(release_id, await renderNotes(notes));
  }
  return rendered;
}
