import { posix } from "node:path";
import type { ComposeDocument, ComposeNode } from "./document.ts";
import { lengthOf, textOf, type Variables } from "./interpolate.ts";
import { extendsChain, piecesOf, resolvedName } from "./services.ts";

/** One value of the document as compose sees it: aliases and merge keys written out, variables replaced. */
export interface Leaf {
  path: readonly string[];
  value: string;
  /** Where its scalar begins in the text. */
  at: number;
}

/** Of all values together; variables can make a small file large. */
const maxCharacters = 32 * 1024 * 1024;

/** In the order of the document: two documents with the same structure have the same paths. Null when their text is too long. */
export function leavesOf(document: ComposeDocument, variables: Variables): readonly Leaf[] | null {
  const { yaml, entries, target } = document;
  const leaves: Leaf[] = [];
  let left = maxCharacters;
  const visit = (node: ComposeNode | null, path: readonly string[]): void => {
    const at = node?.range?.[0] ?? 0;
    const tag = node?.tag === undefined ? "" : `${node.tag} `;
    const add = (value: string) => leaves.push({ path, value: tag + value, at });
    if (yaml.isMap(node)) {
      add("{}");
      for (const [key, value] of entries(node)) visit(value, [...path, key]);
    } else if (yaml.isSeq(node)) {
      add("[]");
      for (const [index, item] of node.items.entries()) visit(target(item), [...path, String(index)]);
    } else {
      const pieces = piecesOf(document, variables, node);
      left -= pieces === null ? 0 : lengthOf(pieces);
      if (left < 0) return;
      const text = pieces === null ? null : textOf(pieces);
      const passed = passedVariable(document, path, node, text);
      add(passed === null ? (text ?? `= ${sourceOf(document, node)}`) : `${text} = ${variables.get(passed)}`);
    }
  };
  visit(document.root, []);
  return left < 0 ? null : leaves;
}

function sourceOf({ text }: ComposeDocument, node: ComposeNode | null): string {
  const [start, end] = node?.range ?? [0, 0];
  return text.slice(start, end);
}

/** The variable that compose passes on by its name alone: `- TAG`, `TAG:`, or the content of a secret or config. */
function passedVariable(
  { yaml }: ComposeDocument,
  path: readonly string[],
  node: ComposeNode | null,
  text: string | null,
): string | null {
  const [first, ...within] = path;
  const [parent, own = ""] = path.slice(-2);
  if (first === "secrets" || first === "configs") return within.length === 2 && own === "environment" ? text : null;
  if (parent !== "environment" && parent !== "args") return null;
  if (node === null || (yaml.isScalar(node) && node.value === null)) return own;
  return text !== null && /^\d+$/.test(own) ? text : null;
}

/** Compose's own file of variables, and Portainer's, in the stack's folder, which an absolute path may name. */
const environmentFile = /^(?:\/.*\/)?(?:\.env|stack\.env)$/;

/** The services whose containers get every variable, because their `env_file` is the file that holds them. */
export function servicesGivenVariables(document: ComposeDocument, variables: Variables): readonly string[] {
  const { yaml, entries, target, services } = document;
  const names = [...entries(services).keys()];
  const isGiven = (node: ComposeNode | null): boolean => {
    if (yaml.isSeq(node)) return node.items.some((item) => isGiven(target(item)));
    if (yaml.isMap(node)) return isGiven(entries(node).get("path") ?? null);
    return environmentFile.test(posix.normalize(resolvedName(document, variables, node) ?? ""));
  };
  return names.filter((name) =>
    extendsChain(document, variables, name).chain.some((map) => isGiven(entries(map).get("env_file") ?? null)),
  );
}

/** The files that this one refers to, which may use the same variables. */
export function otherFiles(document: ComposeDocument, variables: Variables): readonly string[] {
  const { yaml, entries, target, root, services } = document;
  const names = [...entries(services).keys()];
  const extended = names.flatMap((name) => extendsChain(document, variables, name).other_file ?? []);
  const pathsIn = (node: ComposeNode | null): readonly string[] => {
    if (yaml.isSeq(node)) return node.items.flatMap((item) => pathsIn(target(item)));
    if (yaml.isMap(node)) return pathsIn(entries(node).get("path") ?? null);
    const path = resolvedName(document, variables, node);
    return path === null ? [] : [path];
  };
  return [...new Set([...extended, ...pathsIn(entries(root).get("include") ?? null)])];
}
