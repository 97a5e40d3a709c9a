import { type Message, say, says } from "../messages/message.ts";
import { changePieces, type PieceChange } from "./change-pieces.ts";
import { type ComposeDocument, lineOf, openDocument } from "./document.ts";
import type { Variables } from "./interpolate.ts";
import { otherFiles, servicesGivenVariables } from "./leaves.ts";
import { type StackVariable, variablesOf } from "./read-compose-file.ts";
import { scalarPositions } from "./scalar-positions.ts";
import { type ServiceImage, servicesIn } from "./services.ts";
import { findUnasked } from "./unasked-changes.ts";

export interface ImageChange {
  service: string;
  reference: string;
}

/** One edit; `services` are those that it was made for. */
export type ImageEdit =
  | { kind: "file"; start: number; end: number; line: number; from: string; to: string; services: readonly string[] }
  | {
      kind: "variable";
      name: string;
      from: string;
      to: string;
      services: readonly string[];
      /** Of these services, those whose containers also get the variable by their `env_file`. */
      passed_to: readonly string[];
    };

export type ComposeEdit =
  | { edited: { text: string; env: readonly StackVariable[]; edits: readonly ImageEdit[] }; refusals: readonly [] }
  | { edited: null; refusals: readonly Message[] };

/** Nothing that YAML, a template or an environment file would read as more than text. */
const plainReference = /^[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,1023}$/;
/**
 * Gives services new images by the smallest edits of the text and of the variables, and proves the result: it is read again, and must
 * resolve to the same as before but for these images. Refuses an edit that would change anything else.
 */
export async function editImages(
  text: string,
  env: readonly StackVariable[],
  changes: readonly ImageChange[],
): Promise<ComposeEdit> {
  const { document, refusal } = await openDocument(text);
  if (document === null) return { edited: null, refusals: [refusal] };
  const variables = variablesOf(env);
  const services = servicesIn(document, variables);
  // It would be unknown whether an edit also changes such a service.
  const endless = [...services.values()].find(
    (each) => each.refusal && says(each.refusal, "compose_files.extends_too_far"),
  );
  if (endless?.refusal != null) return { edited: null, refusals: [endless.refusal] };
  const plans = changes.map((change) => planChange(document, services.get(change.service), change, variables));
  const refusals = plans.flatMap((plan) => plan.refusal ?? []);
  if (refusals.length > 0) return { edited: null, refusals };
  const { edits, conflicts } = joined(plans.flatMap((plan) => plan.edits ?? []));
  if (conflicts.length > 0) return { edited: null, refusals: conflicts };
  const next = { text: withEdits(text, edits), env: withVariables(env, edits) };
  const result = { text: next.text, env: next.env, edits: withReceivers(document, variables, edits) };
  const before = { document, variables, services };
  const wrong = await findUnasked(before, next, changes, result.edits);
  return wrong.length > 0 ? { edited: null, refusals: wrong } : { edited: result, refusals: [] };
}

type Plan = { edits: readonly ImageEdit[]; refusal: null } | { edits: null; refusal: Message };

function planChange(
  document: ComposeDocument,
  found: ServiceImage | undefined,
  { service, reference }: ImageChange,
  variables: Variables,
): Plan {
  const cannot = (refusal: Message): Plan => ({ edits: null, refusal });
  if (found === undefined) {
    const files = otherFiles(document, variables);
    return cannot(
      files.length === 0
        ? say("compose_files.service_not_found", { service })
        : say("compose_files.service_elsewhere", { service, files }),
    );
  }
  if (found.refusal !== null) return cannot(found.refusal);
  if (!plainReference.test(reference)) return cannot(say("compose_files.reference_not_plain", { service, reference }));
  const { changes, unset } = changePieces(found.pieces, reference);
  if (unset !== null) return cannot(say("compose_files.variable_not_set", { service, name: unset }));
  if (changes === null) return cannot(say("compose_files.no_single_edit", { service, reference }));
  const edits = changes.map((change) => editOf(document, found, change));
  if (edits.includes(null)) return cannot(say("compose_files.image_form", { service }));
  return { edits: edits.filter((edit) => edit !== null), refusal: null };
}

/** Null when the value's characters cannot be found in the text. */
function editOf({ text }: ComposeDocument, { name, scalar }: ServiceImage, change: PieceChange): ImageEdit | null {
  const { piece, text: to } = change;
  if (piece.kind === "variable") {
    return { kind: "variable", name: piece.name, from: piece.text, to, services: [name], passed_to: [] };
  }
  const positions = scalar === null ? null : scalarPositions(text, scalar);
  const [start, end] = [positions?.[piece.start], positions?.[piece.end]];
  if (start === undefined || end === undefined) return null;
  const line = lineOf(text, start);
  return { kind: "file", start, end, line, from: text.slice(start, end), to, services: [name] };
}

/** Services that share a place share its edit, if they want the same of it. */
function joined(edits: readonly ImageEdit[]): { edits: readonly ImageEdit[]; conflicts: readonly Message[] } {
  const byPlace = new Map<string, ImageEdit>();
  const conflicts: Message[] = [];
  for (const edit of edits) {
    const place = edit.kind === "file" ? String(edit.start) : `$${edit.name}`;
    const earlier = byPlace.get(place);
    const services = [...new Set([...(earlier?.services ?? []), ...edit.services])];
    const isSame = earlier === undefined || (earlier.to === edit.to && earlier.from === edit.from);
    if (!isSame) {
      conflicts.push(
        edit.kind === "file"
          ? say("compose_files.conflict_in_line", { services, line: edit.line })
          : say("compose_files.conflict_in_variable", { services, name: edit.name }),
      );
    }
    byPlace.set(place, { ...edit, services });
  }
  return { edits: [...byPlace.values()], conflicts };
}

function withEdits(text: string, edits: readonly ImageEdit[]): string {
  const inFile = edits.flatMap((edit) => (edit.kind === "file" ? [edit] : []));
  return inFile
    .toSorted((one, other) => other.start - one.start)
    .reduce((now, { start, end, to }) => now.slice(0, start) + to + now.slice(end), text);
}

function withVariables(env: readonly StackVariable[], edits: readonly ImageEdit[]): readonly StackVariable[] {
  const values = new Map(edits.flatMap((edit) => (edit.kind === "variable" ? [[edit.name, edit.to] as const] : [])));
  const last = new Map(env.map(({ name }, index) => [name, index]));
  return env.map((each, index) => {
    const value = last.get(each.name) === index ? values.get(each.name) : undefined;
    return value === undefined ? each : { ...each, value };
  });
}

function withReceivers(
  document: ComposeDocument,
  variables: Variables,
  edits: readonly ImageEdit[],
): readonly ImageEdit[] {
  if (edits.every(({ kind }) => kind === "file")) return edits;
  const given = servicesGivenVariables(document, variables);
  return edits.map((edit) =>
    edit.kind === "file" ? edit : { ...edit, passed_to: edit.services.filter((name) => given.includes(name)) },
  );
}
