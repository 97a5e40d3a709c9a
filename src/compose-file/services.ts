import type { Scalar, YAMLMap } from "yaml";
import { type Message, say } from "../messages/message.ts";
import type { ComposeDocument, ComposeNode } from "./document.ts";
import { evaluate, lengthOf, type Piece, parseTemplate, textOf, type Variables, variablesIn } from "./interpolate.ts";

/** A service's image in an opened file. */
export interface ServiceImage {
  name: string;
  /** As it resolves; null if there is none, or it cannot be known. */
  image: string | null;
  /** What `image` consists of. */
  pieces: readonly Piece[];
  /** The scalar that holds it; several services may share one. */
  scalar: Scalar | null;
  has_build: boolean;
  /** Why the image cannot be edited. */
  refusal: Message | null;
}

/** How far a chain of `extends` is followed; one that returns to its start has no end. */
const maxExtends = 50;
/** Of an image, a path or the name of a service. A few variables can make any text long. */
const maxName = 4_096;

/** The services of a file by their names. */
export function servicesIn(document: ComposeDocument, variables: Variables): ReadonlyMap<string, ServiceImage> {
  const names = document.entries(document.services).keys();
  return new Map([...names].map((name) => [name, readService(document, variables, name)]));
}

/** A service, then the services of this file that it extends; and the file of the last one if that is another one. */
export function extendsChain(
  document: ComposeDocument,
  variables: Variables,
  name: string,
): { chain: readonly YAMLMap[]; other_file: string | null } {
  const { yaml, entries, services } = document;
  const chain: YAMLMap[] = [];
  let next: string | null = name;
  while (next !== null && chain.length < maxExtends) {
    const service = entries(services).get(next);
    if (!yaml.isMap(service)) break;
    chain.push(service);
    const base = entries(service).get("extends") ?? null;
    const file: string | null = yaml.isMap(base)
      ? resolvedName(document, variables, entries(base).get("file") ?? null)
      : null;
    if (file !== null) return { chain, other_file: file };
    next = resolvedName(document, variables, yaml.isMap(base) ? (entries(base).get("service") ?? null) : base);
  }
  return { chain, other_file: null };
}

/** What a text consists of as compose interpolates it; null for anything else, and for a template without a result. */
export function piecesOf(
  { yaml }: ComposeDocument,
  variables: Variables,
  node: ComposeNode | null,
): readonly Piece[] | null {
  if (!yaml.isScalar(node) || typeof node.value !== "string") return null;
  const parts = parseTemplate(node.value);
  return parts === null ? null : evaluate(parts, variables);
}

/** A name or path as compose interpolates it. */
export function resolvedName(document: ComposeDocument, variables: Variables, node: ComposeNode | null): string | null {
  const pieces = piecesOf(document, variables, node);
  return pieces === null || lengthOf(pieces) > maxName ? null : textOf(pieces);
}

function readService(document: ComposeDocument, variables: Variables, service: string): ServiceImage {
  const { yaml, entries } = document;
  const { chain, other_file: file } = extendsChain(document, variables, service);
  const hasBuild = chain.some((map) => hasValue(entries(map).get("build")));
  const none = { name: service, image: null, pieces: [], scalar: null, has_build: hasBuild };
  if (chain.length === maxExtends) return { ...none, refusal: say("compose_files.extends_too_far", { service }) };
  const holder = chain.find((map) => hasValue(entries(map).get("image")));
  const scalar = holder === undefined ? undefined : entries(holder).get("image");
  if (scalar === undefined) {
    if (hasBuild) return { ...none, refusal: say("compose_files.built", { service }) };
    if (file !== null) return { ...none, refusal: say("compose_files.in_other_file", { service, file }) };
    return { ...none, refusal: say("compose_files.no_image", { service }) };
  }
  const isTagged = [document.services, ...chain, scalar].some((node) => isTaggedByCompose(node?.tag));
  if (isTagged) return { ...none, refusal: say("compose_files.tagged", { service }) };
  if (!yaml.isScalar(scalar) || typeof scalar.value !== "string" || scalar.value.length > maxName) {
    return { ...none, refusal: say("compose_files.image_not_text", { service }) };
  }
  const parts = parseTemplate(scalar.value);
  if (parts === null) return { ...none, refusal: say("compose_files.bad_template", { service }) };
  const pieces = evaluate(parts, variables);
  if (pieces === null) {
    const names = [...variablesIn(parts)].filter((name) => !variables.get(name));
    return { ...none, refusal: say("compose_files.variable_required", { service, names }) };
  }
  if (lengthOf(pieces) > maxName) return { ...none, refusal: say("compose_files.image_not_text", { service }) };
  const refusal = hasBuild ? say("compose_files.built", { service }) : null;
  return { name: service, image: textOf(pieces), pieces, scalar, has_build: hasBuild, refusal };
}

function hasValue(node: ComposeNode | null | undefined): boolean {
  return node != null && !("value" in node && node.value === null);
}

/** `!reset` and `!override` change what a value means. */
function isTaggedByCompose(tag: string | undefined): boolean {
  return tag !== undefined && !tag.startsWith("tag:yaml.org,2002:");
}
