import { relative } from "node:path";
import { changePieces } from "../../../compose-file/change-pieces.ts";
import { evaluate, type Piece, parseTemplate, textOf, variablesIn } from "../../../compose-file/interpolate.ts";
import { type Message, say } from "../../../messages/message.ts";
import { type Environment, readEnvironment, withVariable } from "./environment-file.ts";
import type { ComposeContainer } from "./labels.ts";
import { linePatch } from "./line-patch.ts";
import { type Place, type PlaceFinder, placeFinder } from "./places.ts";
import type { ComposeSources, SourceFile } from "./sources.ts";

export interface WantedImage {
  service: string;
  reference: string;
}

/** One service's image in its compose files, and the edit that changes it. */
export interface FileEdit {
  service: string;
  /** The file to edit. */
  path: string;
  /** A unified diff without context; null when a person must enter `line`, and blank when the file is already right. */
  patch: string | null;
  /** The new content of the file, for a person. */
  line: string;
  /** The image that the files name now; null if they alone do not determine it. */
  present: string | null;
  /** Other services whose image the same edit changes. */
  also: readonly string[];
  /** The service whose edit also changes this one, because both take their image from the same place; null for its own edit. */
  same_as: string | null;
  /** Why there is no patch. */
  reason: Message | null;
}

/** Services of one project made from the same files, with their new images. */
export interface FileView {
  compose: ComposeContainer;
  sources: ComposeSources;
  wanted: readonly WantedImage[];
}

export interface FileEdits {
  edits: readonly FileEdit[];
  /** The environment files after the edits. */
  environment: readonly SourceFile[];
}

/** The text of every file, by its path: views may share files. */
type Texts = ReadonlyMap<string, string>;

interface Wanted extends WantedImage {
  view: FileView;
}

/** What needs no quotes in YAML and fits in a line of a patch. */
const plainReference = /^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$/;

/**
 * Finds where the images of services are written and makes the edits, one per place, each on top of the previous ones; writes nothing.
 * Formatting, comments and quotes stay. A variable is edited in the environment file or in its default; an image from another service
 * (`extends`, a merge key) becomes the service's own `image`. Services that share a place but need different images are left to a person.
 */
export async function editFiles(views: readonly FileView[]): Promise<readonly FileEdits[]> {
  const look = lookerAt(views, placeFinder(await import("yaml")));
  const start = new Map(
    views.flatMap(({ sources }) => [...sources.files, ...sources.environment]).map(({ path, text }) => [path, text]),
  );
  const asked = views.flatMap((view) => view.wanted.map((each) => ({ ...each, view })));
  const conflicts = new Map<Wanted, string>();
  let made = editAll(asked, conflicts, start, look);
  // Each round finds at least two more conflicts and leaves them alone in the next.
  while (made === null) made = editAll(asked, conflicts, start, look);
  const { texts, edits } = made;
  return views.map((view) => ({
    edits: [...edits].filter(([each]) => each.view === view).map(([, edit]) => edit),
    environment: [...withTexts(view.sources.environment, texts)].map(([path, text]) => ({ path, text })),
  }));
}

/** What the files of a view say. */
interface Look {
  places: ReadonlyMap<string, Place>;
  known: Environment;
  /** By service; null when these files alone do not tell. */
  images: ReadonlyMap<string, string | null>;
}

type Looks = (view: FileView) => Look | undefined;

function lookerAt(views: readonly FileView[], findPlaces: PlaceFinder): (texts: Texts) => Looks {
  return (texts) => {
    const looks = views.map((view) => {
      const places = findPlaces(withTexts(view.sources.files, texts));
      const known = environmentOf(view, texts);
      const images = new Map([...places].map(([name, place]) => [name, imageAt(place, known)]));
      return [view, { places, known, images }] as const;
    });
    const byView = new Map<FileView, Look>(looks);
    return (view) => byView.get(view);
  };
}

/** Null when an edit undid another one: both are then in `conflicts`, each with a service that it conflicts with. */
function editAll(
  asked: readonly Wanted[],
  conflicts: Map<Wanted, string>,
  start: Texts,
  look: (texts: Texts) => Looks,
): { texts: Texts; edits: ReadonlyMap<Wanted, FileEdit> } | null {
  const edits = new Map<Wanted, FileEdit>();
  const found = look(start);
  let texts = start;
  for (const each of asked) {
    const { view, service, reference } = each;
    const now = look(texts);
    const place = now(view)?.places.get(service);
    const unmade = {
      service,
      path: place?.path ?? view.sources.files[0]?.path ?? "",
      line: `image: ${reference}`,
      patch: null,
      present: found(view)?.images.get(service) ?? null,
      also: [],
      same_as: null,
    };
    const conflict = conflicts.get(each);
    if (conflict !== undefined) {
      edits.set(each, { ...unmade, reason: say("compose.shared_line", { service: conflict }) });
      continue;
    }
    if (now(view)?.images.get(service) === reference) {
      const earlier = [...edits.values()].find(({ also }) => also.includes(service));
      const shared = earlier === undefined ? { patch: "" } : { ...earlier, same_as: earlier.service, also: [] };
      edits.set(each, { ...unmade, ...shared, service, present: unmade.present, reason: null });
      continue;
    }
    const made = editOne(each, texts, now(view), place);
    if ("reason" in made) {
      edits.set(each, { ...unmade, path: made.path ?? unmade.path, reason: made.reason });
      continue;
    }
    const after = look(made.texts);
    const undone = [...edits.keys()].filter((other) => {
      const [was, is] = [now, after].map((looks) => looks(other.view)?.images.get(other.service));
      return was === other.reference && is !== was;
    });
    if (undone[0] !== undefined) {
      for (const other of undone) conflicts.set(other, service);
      conflicts.set(each, undone[0].service);
      return null;
    }
    edits.set(each, { ...unmade, ...patchOf(each, made), also: changedBetween(asked, now, after, service) });
    texts = made.texts;
  }
  return { texts, edits };
}

function patchOf({ view }: Wanted, made: MadeEdit): Pick<FileEdit, "path" | "line" | "patch" | "reason"> {
  const { path, line, before, after } = made;
  if (!made.is_own_line) return { path, line, patch: null, reason: say("compose.line_has_more") };
  return { path, line, patch: linePatch(shown(path, view.compose), before, after), reason: null };
}

/** Other services whose image an edit changes. */
function changedBetween(asked: readonly Wanted[], now: Looks, after: Looks, service: string): readonly string[] {
  const names = [...new Set(asked.map(({ view }) => view))].flatMap((view) => {
    const images = now(view)?.images;
    return [...(after(view)?.images ?? [])]
      .filter(([name, image]) => image !== images?.get(name))
      .map(([name]) => name);
  });
  return [...new Set(names)].filter((name) => name !== service);
}

function withTexts(files: readonly SourceFile[], texts: Texts): Texts {
  return new Map(files.map(({ path, text }) => [path, texts.get(path) ?? text]));
}

interface MadeEdit {
  path: string;
  line: string;
  before: string;
  after: string;
  /** Whether a diff of whole lines reveals nothing else of the file. */
  is_own_line: boolean;
  texts: Texts;
}

function editOne(
  { view: { sources }, reference }: Wanted,
  texts: Texts,
  now: Look | undefined,
  place: Place | undefined,
): MadeEdit | { path: string | null; reason: Message } {
  if (now === undefined || place === undefined) return { path: null, reason: say("compose.service_not_found") };
  if (place.kind === "none") return place;
  const { path, start } = place;
  if (!plainReference.test(reference)) return { path, reason: say("compose.image_not_plain") };
  const before = texts.get(path) ?? "";
  const line = `image: ${reference}`;
  const inFile = (after: string, isOwnLine: boolean): MadeEdit => {
    return { path, line, before, after, is_own_line: isOwnLine, texts: new Map([...texts, [path, after]]) };
  };
  if (place.kind === "absent") {
    const added = `${place.indent}${line}${place.line_end}`;
    return inFile(before.slice(0, start) + added + before.slice(start), true);
  }
  const edit = templateEdit(place.value, now.known, reference);
  if (edit.kind === "text") {
    const scalar = `${place.quote}${edit.text}${place.quote}`;
    return inFile(before.slice(0, start) + scalar + before.slice(place.end), place.is_own_line);
  }
  for (const { path: file } of sources.environment.toReversed()) {
    const text = texts.get(file) ?? "";
    const after = withVariable(text, edit.name, edit.value);
    if (after === null) continue;
    const assignment = `${edit.name}=${edit.value}`;
    const changed = new Map([...texts, [file, after] as const]);
    return { path: file, line: assignment, before: text, after, is_own_line: true, texts: changed };
  }
  return { path, reason: say("compose.variable_not_found", { name: edit.name }) };
}

type TemplateEdit =
  /** Replace the whole text with this. */
  | { kind: "text"; text: string }
  /** Give the variable this value. */
  | { kind: "variable"; name: string; value: string };

/** Another value of one variable, another default, or else plain text instead of everything. */
function templateEdit(value: string, known: Environment, reference: string): TemplateEdit {
  const pieces = piecesOf(value, known);
  const { changes } = pieces === null ? { changes: null } : changePieces(pieces, reference);
  const [change, ...others] = changes ?? [];
  if (change === undefined || others.length > 0) return { kind: "text", text: reference };
  const { piece, text } = change;
  if (piece.kind === "variable") return { kind: "variable", name: piece.name, value: text };
  return { kind: "text", text: value.slice(0, piece.start) + text + value.slice(piece.end) };
}

function imageAt({ value }: Place, known: Environment): string | null {
  const pieces = value === null ? null : piecesOf(value, known);
  return pieces === null ? null : textOf(pieces);
}

/** Null when a value that matters may be another one. */
function piecesOf(text: string, { variables, unknown }: Environment): readonly Piece[] | null {
  const parts = parseTemplate(text);
  return parts === null || !variablesIn(parts).isDisjointFrom(unknown) ? null : evaluate(parts, variables);
}

/** Of all environment files: a later one wins. */
function environmentOf({ compose, sources }: FileView, texts: Texts): Environment {
  const variables = new Map([["COMPOSE_PROJECT_NAME", compose.project]]);
  const unknown = new Set<string>();
  for (const text of withTexts(sources.environment, texts).values()) {
    const file = readEnvironment(text);
    for (const [name, value] of file.variables) {
      variables.set(name, value);
      unknown.delete(name);
    }
    for (const name of file.unknown) unknown.add(name);
  }
  return { variables, unknown };
}

/** `patch` refuses absolute paths; from the project's folder it finds this one. */
function shown(path: string, compose: ComposeContainer): string {
  const short = relative(compose.working_dir ?? "/", path);
  return short.startsWith("..") ? path : short;
}
