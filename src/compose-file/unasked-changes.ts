import { type Message, say } from "../messages/message.ts";
import { type ComposeDocument, openDocument } from "./document.ts";
import type { ImageChange, ImageEdit } from "./edit-images.ts";
import { parseTemplate, type Variables, variablesIn } from "./interpolate.ts";
import { type Leaf, leavesOf, otherFiles, servicesGivenVariables } from "./leaves.ts";
import { type StackVariable, variablesOf } from "./read-compose-file.ts";
import { type ServiceImage, servicesIn } from "./services.ts";

/** A file with its variables, as it was or as it is after the edits. */
export interface ReadState {
  document: ComposeDocument;
  variables: Variables;
  services: ReadonlyMap<string, ServiceImage>;
}

/** How many places a refusal names. */
const maxNamed = 10;

/**
 * Why the edited text is not the file with the new images and nothing else changed; empty when it is. Reads the text again: what is
 * compared is what compose will see, not what the edits were meant to do.
 */
export async function findUnasked(
  before: ReadState,
  edited: { text: string; env: readonly StackVariable[] },
  changes: readonly ImageChange[],
  edits: readonly ImageEdit[],
): Promise<readonly Message[]> {
  const wrong = [say("compose_files.edit_not_proved")];
  const { document } = await openDocument(edited.text);
  if (document === null || undone(edited.text, edits) !== before.document.text) return wrong;
  const variables = variablesOf(edited.env);
  const after = { document, variables, services: servicesIn(document, variables) };
  const [old, now] = [before, after].map((state) => leavesOf(state.document, state.variables));
  if (old == null || now == null) return [say("compose_files.too_complex")];
  const places = changedPlaces(before, after, changes, old, now);
  if (places === null) return wrong;
  const refusals = refusalsFor(before, places, edits);
  if (refusals.length > 0) return refusals;
  return changes.every(({ service, reference }) => after.services.get(service)?.image === reference) ? [] : wrong;
}

/** The edited text with what was there before. From its start, so that the positions of the old text count. */
function undone(text: string, edits: readonly ImageEdit[]): string {
  return edits
    .flatMap((edit) => (edit.kind === "file" ? [edit] : []))
    .toSorted((one, other) => one.start - other.start)
    .reduce((now, { start, from, to }) => now.slice(0, start) + from + now.slice(start + to.length), text);
}

interface Place {
  name: string;
  /** Where its scalar begins; null for what is not written in the file. */
  at: number | null;
}

/** What changed besides the requested images; null if the two documents do not even have the same structure. */
function changedPlaces(
  before: ReadState,
  after: ReadState,
  changes: readonly ImageChange[],
  old: readonly Leaf[],
  now: readonly Leaf[],
): readonly Place[] | null {
  if (old.length !== now.length) return null;
  const asked = new Set(changes.map(({ service }) => service));
  // An extension field is only read where a service takes its value, so that the value of an asked image may change in it.
  const origins = new Set([...asked].map((name) => startOf(before.services.get(name))));
  const places: Place[] = [];
  for (const [index, leaf] of old.entries()) {
    const { path, value, at } = leaf;
    const next = now[index];
    if (next === undefined || next.path.join("\0") !== path.join("\0")) return null;
    if (next.value === value) continue;
    const [first = "", service = "", key] = path;
    const isAsked = first === "services" && key === "image" && path.length === 3 && asked.has(service);
    if (!isAsked && !(first.startsWith("x-") && origins.has(at))) places.push({ name: path.join("."), at });
  }
  for (const [name, service] of before.services) {
    if (asked.has(name) || service.image === after.services.get(name)?.image) continue;
    places.push({ name: `services.${name}.image`, at: startOf(service) });
  }
  return places;
}

function startOf(service: ServiceImage | undefined): number | null {
  return service?.scalar?.range?.[0] ?? null;
}

function refusalsFor(
  { document, variables, services }: ReadState,
  places: readonly Place[],
  edits: readonly ImageEdit[],
): readonly Message[] {
  const refusals: Message[] = [];
  const left = new Set(places);
  for (const edit of edits) {
    if (edit.kind !== "file") continue;
    const start = startOf(services.get(edit.services[0] ?? ""));
    const shared = [...left].filter(({ at }) => at === start);
    for (const place of shared) left.delete(place);
    if (shared.length === 0) continue;
    refusals.push(say("compose_files.shared_line", { services: edit.services, line: edit.line, ...named(shared) }));
  }
  const names = edits.flatMap((edit) => (edit.kind === "variable" ? [edit.name] : []));
  if (names.length === 0) return left.size === 0 ? refusals : [...refusals, say("compose_files.edit_not_proved")];
  const asked = new Set(edits.flatMap((edit) => edit.services));
  const given = servicesGivenVariables(document, variables).filter((name) => !asked.has(name));
  const shared = [
    ...left,
    ...given.map((name) => ({ name: `services.${name}.env_file` })),
    ...variablesOfOthers(variables, names).map((name) => ({ name })),
  ];
  if (shared.length > 0) refusals.push(say("compose_files.shared_variables", { names, ...named(shared) }));
  const files = otherFiles(document, variables);
  if (files.length > 0) refusals.push(say("compose_files.variables_elsewhere", { names, files }));
  return refusals;
}

/** The variables whose values use these: the file that holds all of them is interpolated, too. */
function variablesOfOthers(variables: Variables, names: readonly string[]): readonly string[] {
  const uses = (value: string) => {
    const parts = value.includes("$") ? parseTemplate(value) : [];
    // What cannot be read may mean anything.
    if (parts === null) return names.some((name) => value.includes(name));
    const used = variablesIn(parts);
    return names.some((name) => used.has(name));
  };
  return [...variables].flatMap(([name, value]) => (!names.includes(name) && uses(value) ? [name] : []));
}

function named(places: readonly { name: string }[]): { places: readonly string[]; more: number } {
  const names = [...new Set(places.map(({ name }) => name))];
  return { places: names.slice(0, maxNamed), more: Math.max(0, names.length - maxNamed) };
}
