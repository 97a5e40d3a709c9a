import type { Alias, Document, Pair, Scalar, YAMLMap } from "yaml";
import { isTooNested } from "../../../compose-file/nesting.ts";
import { type Message, say } from "../../../messages/message.ts";

type Yaml = typeof import("yaml");

/** Where a service's image is written. */
export type Place =
  /** `source` is the text from `start` to `end`, including quotes or an alias; `quote` is kept around a new value. */
  | { kind: "scalar"; path: string; value: string; start: number; end: number; quote: string; is_own_line: boolean }
  /** It comes from elsewhere (`value`, null when not in these files); its own line would go to `start`. */
  | { kind: "absent"; path: string; value: string | null; start: number; indent: string; line_end: string }
  | { kind: "none"; path: string | null; value: null; reason: Message };

/** How far a chain of merge keys and `extends` is followed. */
const maxDepth = 10;

export type PlaceFinder = (files: ReadonlyMap<string, string>) => ReadonlyMap<string, Place>;

/** Finds the place of every service in the files; a later file wins, as when compose merges them. Parses each text once. */
export function placeFinder(yaml: Yaml): PlaceFinder {
  const known = new Map<string, readonly Document[]>();
  const documentsOf = (text: string) => {
    const documents = known.get(text) ?? parse(yaml, text);
    known.set(text, documents);
    return documents;
  };
  return (files) => {
    const places = new Map<string, Place>();
    for (const [path, text] of files) {
      for (const document of documentsOf(text)) addPlaces(places, { yaml, path, text, document });
    }
    return places;
  };
}

function addPlaces(places: Map<string, Place>, read: Omit<OpenFile, "services">): void {
  const { yaml, document } = read;
  const root = resolved(yaml, document, document.contents);
  const services = yaml.isMap(root) ? resolved(yaml, document, root.get("services", true)) : null;
  if (!yaml.isMap(services)) return;
  for (const pair of services.items) {
    const name = keyOf(yaml, pair);
    const service = resolved(yaml, document, pair.value);
    if (name === null || !yaml.isMap(service)) continue;
    const place = placeOf({ ...read, services }, service);
    // A later file without an image keeps the earlier one's.
    if (place.kind !== "none" || !places.has(name)) places.set(name, place);
  }
}

interface OpenFile {
  yaml: Yaml;
  path: string;
  text: string;
  document: Document;
  services: YAMLMap;
}

/** Null for invalid YAML. The library's message quotes the text, so it is dropped. */
function parse(yaml: Yaml, text: string): readonly Document[] {
  if (isTooNested(text)) return [];
  try {
    // Searching for duplicate keys takes quadratic time; compose itself refuses them.
    const options = { prettyErrors: false, logLevel: "silent", merge: false, uniqueKeys: false } as const;
    const documents = yaml.parseAllDocuments(text, options);
    return "empty" in documents ? [] : documents.filter((each) => each.errors.length === 0);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function resolved(yaml: Yaml, document: Document, node: unknown): unknown {
  return yaml.isAlias(node) ? node.resolve(document) : node;
}

function keyOf(yaml: Yaml, pair: Pair): string | null {
  return yaml.isScalar(pair.key) && typeof pair.key.value === "string" ? pair.key.value : null;
}

function memberOf(yaml: Yaml, map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => keyOf(yaml, pair) === key);
}

function placeOf(file: OpenFile, service: YAMLMap): Place {
  const { yaml, path } = file;
  const image = memberOf(yaml, service, "image");
  const none = (reason: Message): Place => ({ kind: "none", path, value: null, reason });
  if (image !== undefined) {
    if (yaml.isScalar(image.value) || yaml.isAlias(image.value)) return scalarPlace(file, image.value);
    return none(say("compose.image_there_not_plain"));
  }
  if (memberOf(yaml, service, "build") !== undefined) return none(say("compose.image_built"));
  const isInherited = ["extends", "<<"].some((key) => memberOf(yaml, service, key) !== undefined);
  const [first] = service.items;
  if (!isInherited || first === undefined || !yaml.isScalar(first.key)) return none(say("compose.image_not_there"));
  const at = first.key.range?.[0] ?? 0;
  const lineStart = file.text.lastIndexOf("\n", at - 1) + 1;
  const indent = file.text.slice(lineStart, at);
  if (service.flow === true || !/^ *$/.test(indent)) return none(say("compose.image_inherited"));
  const lineEnd = /\r\n/.test(file.text) ? "\r\n" : "\n";
  const value = inheritedImage(file, service, 0);
  return { kind: "absent", path, value, start: lineStart, indent, line_end: lineEnd };
}

function scalarPlace({ yaml, path, text, document }: OpenFile, node: Scalar | Alias): Place {
  const scalar = resolved(yaml, document, node);
  const value = yaml.isScalar(scalar) && typeof scalar.value === "string" ? scalar.value : null;
  const [start, end] = node.range ?? [0, 0];
  const source = text.slice(start, end);
  const quote = /^["']/.test(source) ? source.slice(0, 1) : "";
  const isPlain = yaml.isAlias(node) || source === `${quote}${value}${quote}`;
  if (value === null || !isPlain)
    return { kind: "none", path, value: null, reason: say("compose.image_there_not_plain") };
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const before = text.slice(lineStart, start);
  const after = /^[^\n]*/.exec(text.slice(end))?.[0] ?? "";
  const isOwnLine =
    /^[ \t]*(image|"image"|'image')[ \t]*:[ \t]*(&[^ \t]+[ \t]+)?$/.test(before) &&
    /^[ \t]*,?[ \t]*(#.*)?\r?$/.test(after);
  return { kind: "scalar", path, value, start, end, quote, is_own_line: isOwnLine };
}

/** A service's image from its merge keys or from the service in these files that it extends. */
function inheritedImage(file: OpenFile, service: YAMLMap, depth: number): string | null {
  const { yaml, document, services } = file;
  if (depth > maxDepth) return null;
  const from = (node: unknown): string | null => {
    const map = resolved(yaml, document, node);
    if (!yaml.isMap(map)) return null;
    const image = resolved(yaml, document, memberOf(yaml, map, "image")?.value);
    if (yaml.isScalar(image) && typeof image.value === "string") return image.value;
    return inheritedImage(file, map, depth + 1);
  };
  const merged = memberOf(yaml, service, "<<")?.value;
  const candidates: readonly unknown[] = yaml.isSeq(merged) ? merged.items : [merged];
  for (const each of candidates) {
    const image = from(each);
    if (image !== null) return image;
  }
  const extended = resolved(yaml, document, memberOf(yaml, service, "extends")?.value);
  if (yaml.isScalar(extended) && typeof extended.value === "string") return from(services.get(extended.value, true));
  if (!yaml.isMap(extended) || memberOf(yaml, extended, "file") !== undefined) return null;
  const name = extended.get("service");
  return typeof name === "string" ? from(services.get(name, true)) : null;
}
