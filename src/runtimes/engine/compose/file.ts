import { relative } from "node:path";
import { type Environment, readEnvironment, withVariable } from "./environment-file.ts";
import { editTemplate, evaluate, parseTemplate, type TemplateEdit } from "./interpolate.ts";
import type { ComposeContainer } from "./labels.ts";
import { linePatch } from "./line-patch.ts";
import { type Place, placeFinder } from "./places.ts";
import type { ComposeSources, SourceFile } from "./sources.ts";

export interface WantedImage {
  service: string;
  reference: string;
}

/** One service's image in its compose files, and the edit that makes it another. */
export interface FileEdit {
  service: string;
  /** The file that is to be edited. */
  path: string;
  /** A unified diff without context; null where a person has to write `line`, and blank where the file says it already. */
  patch: string | null;
  /** What the file is to say, for a person. */
  line: string;
  /** What the files make of the image as they are; null where that cannot be told from them alone. */
  present: string | null;
  /** Other services whose image the same edit changes. */
  also: readonly string[];
  /** Why there is no patch. */
  reason: string | null;
}

export interface FileEdits {
  edits: readonly FileEdit[];
  /** The environment files as they will be. */
  environment: readonly SourceFile[];
}

interface State {
  files: ReadonlyMap<string, string>;
  environment: ReadonlyMap<string, string>;
}

/** What may stand in YAML without quotes, and in a line of a patch. */
const plainReference = /^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$/;

/**
 * Finds where the images of services are written and makes the edits, each on top of those before; nothing is written. Formatting,
 * comments and quotes stay. Where the image is a variable, the edit goes to its line in the environment file or to its default;
 * where it comes from another service (`extends`, a merge key), the service gets an `image` of its own.
 */
export async function editFiles(
  compose: ComposeContainer,
  sources: ComposeSources,
  wanted: readonly WantedImage[],
): Promise<FileEdits> {
  const findPlaces = placeFinder(await import("yaml"));
  const start: State = {
    files: new Map(sources.files.map(({ path, text }) => [path, text])),
    environment: new Map(sources.environment.map(({ path, text }) => [path, text])),
  };
  const look = (state: State) => {
    const places = findPlaces(state.files);
    const known = environmentOf(state, compose.project);
    return { places, known, images: new Map([...places].map(([name, place]) => [name, imageAt(place, known)])) };
  };
  const found = look(start);
  const edits: FileEdit[] = [];
  let state = start;
  for (const { service, reference } of wanted) {
    const now = look(state);
    const common = { service, line: `image: ${reference}`, present: found.images.get(service) ?? null };
    const earlier = edits.find((each) => each.also.includes(service));
    if (now.images.get(service) === reference) {
      const place = found.places.get(service)?.path ?? "";
      const { path, line, patch } = earlier ?? { path: place, line: common.line, patch: "" };
      edits.push({ ...common, path, line, patch, also: [], reason: null });
      continue;
    }
    const made = editOne(state, now.places.get(service), now.known, reference);
    if ("reason" in made) {
      edits.push({
        ...common,
        path: made.path ?? sources.files[0]?.path ?? "",
        patch: null,
        also: [],
        reason: made.reason,
      });
      continue;
    }
    const after = look(made.state);
    const also = [...after.images].filter(([name, image]) => name !== service && image !== now.images.get(name));
    edits.push({
      ...common,
      path: made.path,
      line: made.line,
      patch: made.is_own_line ? linePatch(shown(made.path, compose), made.before, made.after) : null,
      also: also.map(([name]) => name),
      reason: made.is_own_line ? null : "the line has more in it than the image",
    });
    state = made.state;
  }
  const { images } = look(state);
  return {
    edits: edits.map((edit, index) => {
      if (edit.patch === null || images.get(edit.service) === wanted[index]?.reference) return edit;
      return { ...edit, patch: null, reason: "it has the place in common with a service that gets another image" };
    }),
    environment: [...state.environment].map(([path, text]) => ({ path, text })),
  };
}

interface MadeEdit {
  path: string;
  line: string;
  before: string;
  after: string;
  /** Whether a diff of whole lines shows nothing else of the file. */
  is_own_line: boolean;
  state: State;
}

function editOne(
  state: State,
  place: Place | undefined,
  known: Environment,
  reference: string,
): MadeEdit | { path: string | null; reason: string } {
  if (place === undefined) return { path: null, reason: "the service was not found there" };
  if (place.kind === "none") return place;
  const { path, start } = place;
  if (!plainReference.test(reference)) return { path, reason: "the image is no plain text" };
  const before = state.files.get(path) ?? "";
  const line = `image: ${reference}`;
  const inFile = (after: string, isOwnLine: boolean): MadeEdit => {
    return {
      path,
      line,
      before,
      after,
      is_own_line: isOwnLine,
      state: { ...state, files: replaced(state.files, path, after) },
    };
  };
  if (place.kind === "absent") {
    const added = `${place.indent}${line}${place.line_end}`;
    return inFile(before.slice(0, start) + added + before.slice(start), true);
  }
  const edit = templateEdit(place.value, known, reference);
  if (edit.kind === "text") {
    const scalar = `${place.quote}${edit.text}${place.quote}`;
    return inFile(before.slice(0, start) + scalar + before.slice(place.end), place.is_own_line);
  }
  for (const [file, text] of [...state.environment].reverse()) {
    const after = withVariable(text, edit.name, edit.value);
    if (after === null) continue;
    const environment = replaced(state.environment, file, after);
    const assignment = `${edit.name}=${edit.value}`;
    return { path: file, line: assignment, before: text, after, is_own_line: true, state: { ...state, environment } };
  }
  return { path, reason: `the value of ${edit.name} was not found in a file` };
}

function templateEdit(value: string, known: Environment, reference: string): TemplateEdit {
  const parts = parseTemplate(value);
  const isKnown = parts?.every((part) => part.variable === null || !known.unknown.has(part.variable.name)) ?? false;
  if (parts === null || !isKnown) return { kind: "text", text: reference };
  return editTemplate(value, parts, known.variables, reference);
}

function replaced(map: ReadonlyMap<string, string>, key: string, value: string): ReadonlyMap<string, string> {
  return new Map([...map, [key, value]]);
}

function imageAt(place: Place, known: Environment): string | null {
  const parts = place.value === null ? null : parseTemplate(place.value);
  if (parts === null) return null;
  const isKnown = parts.every((part) => part.variable === null || !known.unknown.has(part.variable.name));
  return isKnown ? evaluate(parts, known.variables) : null;
}

/** Of all environment files: a later one wins. */
function environmentOf({ environment }: State, project: string): Environment {
  const variables = new Map([["COMPOSE_PROJECT_NAME", project]]);
  const unknown = new Set<string>();
  for (const text of environment.values()) {
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
