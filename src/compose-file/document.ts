import type { Alias, Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { type Message, say } from "../messages/message.ts";
import { isTooNested, maxNesting } from "./nesting.ts";

type Yaml = typeof import("yaml");

/** Stack files are a few kilobytes; parsing this much takes a second. */
const maxCharacters = 256 * 1024;
/** Of the document with every alias and merge key written out. */
const maxNodes = 200_000;
/** A text counts as a further node for each of these. */
const charactersOfNode = 100;
/** Line ends to YAML 1.1, which compose reads, and not to the parser. */
const otherLineEnds = /\r(?!\n)|[\u0085\u2028\u2029]/;

export type ComposeNode = Scalar | YAMLMap | YAMLSeq;

/** One YAML document, checked so that it can be walked with its aliases and merge keys without bounds of one's own. */
export interface ComposeDocument {
  text: string;
  root: YAMLMap;
  services: YAMLMap;
  yaml: Yaml;
  /** The node itself, or the one that an alias names; null for an empty value. */
  target(node: unknown): ComposeNode | null;
  /** What a mapping contains for compose, with its merge keys: its own entries first. */
  entries(map: YAMLMap): ReadonlyMap<string, ComposeNode | null>;
}

export type OpenedDocument = { document: ComposeDocument; refusal: null } | { document: null; refusal: Message };

class Refused extends Error {
  constructor(readonly refusal: Message) {
    super(refusal.code);
  }
}

/** Refuses what compose would not load, and what it might read differently. */
export async function openDocument(text: string): Promise<OpenedDocument> {
  if (text.length > maxCharacters) return refused(say("compose_files.too_large", { limit: maxCharacters }));
  if (otherLineEnds.test(text)) return refused(say("compose_files.line_ends"));
  // The replacement for bytes that are not UTF-8: writing the text back would put it into the file.
  const lost = text.indexOf("\ufffd");
  if (lost !== -1) return refused(say("compose_files.not_utf8", { line: lineOf(text, lost) }));
  if (isTooNested(text)) return refused(say("compose_files.too_complex"));
  const yaml = await import("yaml");
  try {
    return { document: checked(yaml, text, parse(yaml, text)), refusal: null };
  } catch (error) {
    if (error instanceof Refused) return refused(error.refusal);
    // The parser is recursive.
    if (error instanceof RangeError) return refused(say("compose_files.too_complex"));
    throw error;
  }
}

function refused(refusal: Message): OpenedDocument {
  return { document: null, refusal };
}

/** The parser's own messages quote the text, so only the line is reported. */
function parse(yaml: Yaml, text: string): Document {
  // Its search for duplicate keys takes quadratic time.
  const options = { prettyErrors: false, logLevel: "silent", merge: false, uniqueKeys: false } as const;
  const documents = yaml.parseAllDocuments(text, options);
  const [first, ...others] = "empty" in documents ? [] : documents;
  if (first === undefined) throw new Refused(say("compose_files.no_services"));
  for (const { errors } of [first, ...others]) {
    if (errors[0] !== undefined) throw notYaml(text, errors[0].pos[0]);
  }
  if (others.length > 0) throw new Refused(say("compose_files.several_documents"));
  return first;
}

function notYaml(text: string, at: number): Refused {
  return new Refused(say("compose_files.not_yaml", { line: lineOf(text, at) }));
}

export function lineOf(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

function checked(yaml: Yaml, text: string, parsed: Document): ComposeDocument {
  const targets = aliasTargets(yaml, text, parsed.contents);
  const target = (node: unknown): ComposeNode | null => {
    if (yaml.isAlias(node)) return targets.get(node) ?? null;
    return yaml.isScalar(node) || yaml.isMap(node) || yaml.isSeq(node) ? node : null;
  };
  const merged = new Map<YAMLMap, ReadonlyMap<string, ComposeNode | null>>();
  const entries = (map: YAMLMap): ReadonlyMap<string, ComposeNode | null> => {
    const known = merged.get(map);
    if (known !== undefined) return known;
    const found = new Map<string, ComposeNode | null>();
    const own = map.items.filter((pair) => !isMergeKey(yaml, pair));
    for (const pair of own) found.set(keyOf(yaml, text, pair), target(pair.value));
    for (const pair of map.items) {
      if (!isMergeKey(yaml, pair)) continue;
      for (const source of mergeSources(yaml, target(pair.value))) {
        const from = target(source);
        if (!yaml.isMap(from)) throw notYaml(text, startOf(pair.key));
        for (const [key, value] of entries(from)) if (!found.has(key)) found.set(key, value);
      }
    }
    merged.set(map, found);
    return found;
  };
  const root = target(parsed.contents);
  if (!yaml.isMap(root)) throw new Refused(say("compose_files.no_services"));
  checkSize(yaml, root, target, entries);
  const services = entries(root).get("services");
  if (!yaml.isMap(services)) throw new Refused(say("compose_files.no_services"));
  return { text, root, services, yaml, target, entries };
}

/** Like the parser's own resolution, but in one pass. Refuses duplicate keys, unknown aliases and values that contain themselves. */
function aliasTargets(yaml: Yaml, text: string, root: unknown): ReadonlyMap<Alias, ComposeNode> {
  const targets = new Map<Alias, ComposeNode>();
  const anchors = new Map<string, ComposeNode>();
  const open = new Set<unknown>();
  const visit = (node: unknown): void => {
    if (yaml.isAlias(node)) {
      const found = anchors.get(node.source);
      if (found === undefined || open.has(found)) throw notYaml(text, startOf(node));
      targets.set(node, found);
      return;
    }
    if (!yaml.isScalar(node) && !yaml.isCollection(node)) return;
    if (open.size > maxNesting) throw new Refused(say("compose_files.too_complex"));
    if (node.anchor !== undefined) anchors.set(node.anchor, node as ComposeNode);
    open.add(node);
    if (yaml.isMap(node)) {
      const keys = new Set<string>();
      for (const pair of node.items) {
        const key = keyOf(yaml, text, pair);
        if (keys.has(key)) {
          throw new Refused(say("compose_files.duplicate_key", { key, line: lineOf(text, startOf(pair.key)) }));
        }
        keys.add(key);
        visit(pair.key);
        visit(pair.value);
      }
    } else if (yaml.isSeq(node)) {
      for (const item of node.items) visit(item);
    }
    open.delete(node);
  };
  visit(root);
  return targets;
}

function startOf(node: unknown): number {
  return (node as Partial<Node> | null)?.range?.[0] ?? 0;
}

/** As written, also `1` or `yes`; compose refuses keys that are no scalars. */
function keyOf(yaml: Yaml, text: string, pair: Pair): string {
  const { key } = pair;
  if (!yaml.isScalar(key)) throw notYaml(text, startOf(key));
  return typeof key.value === "string" ? key.value : (key.source ?? "");
}

function isMergeKey(yaml: Yaml, { key }: Pair): boolean {
  return yaml.isScalar(key) && key.type === "PLAIN" && key.source === "<<";
}

function mergeSources(yaml: Yaml, value: ComposeNode | null): readonly unknown[] {
  return yaml.isSeq(value) ? value.items : [value];
}

/** Every mapping, also a merged one, counts as often as it appears. */
function checkSize(
  yaml: Yaml,
  root: YAMLMap,
  target: ComposeDocument["target"],
  entries: ComposeDocument["entries"],
): void {
  const sizes = new Map<ComposeNode, number>();
  const sizeOf = (node: ComposeNode | null): number => {
    if (node === null) return 1;
    if (yaml.isScalar(node)) return 1 + (node.source?.length ?? 0) / charactersOfNode;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    const values = yaml.isMap(node) ? node.items.map((pair) => pair.value) : node.items;
    const size = values.reduce<number>((sum, value) => sum + sizeOf(target(value)), 1);
    if (size > maxNodes) throw new Refused(say("compose_files.too_complex"));
    if (yaml.isMap(node)) entries(node);
    sizes.set(node, size);
    return size;
  };
  sizeOf(root);
}
