import { isObject } from "../strict-json.ts";
import type { FieldDescription } from "./fields.ts";

/** The deepest path that a form may name, and the most entries of a list; more is ignored. */
const maxDepth = 8;
const maxEntries = 100;

type Tree = { [key: string]: unknown };

/** `sources.0.key=a` becomes `{ sources: { "0": { key: ["a"] } } }`; prototype names are dropped. */
function nest(form: FormData): Tree {
  const top: Tree = Object.create(null);
  for (const [name, value] of form) {
    if (typeof value !== "string" || name.startsWith("_")) continue;
    const parts = name.split(".");
    if (parts.length > maxDepth || parts.some((part) => ["__proto__", "constructor", "prototype"].includes(part)))
      continue;
    let node = top;
    for (const part of parts.slice(0, -1)) {
      const next = node[part];
      const child: Tree = isObject(next) ? next : Object.create(null);
      node[part] = child;
      node = child;
    }
    const last = parts.at(-1) ?? "";
    const before = node[last];
    // Appended in place: copying would take quadratic time for a repeated field.
    if (Array.isArray(before)) before.push(value);
    else node[last] = [value];
  }
  return top;
}

function texts(node: unknown): readonly string[] {
  return Array.isArray(node) ? node.filter((item) => typeof item === "string") : [];
}

/** The value of a cleared optional field: its own "nothing", so that an edit can clear it; otherwise it is left out. */
function blankOf(field: FieldDescription): "" | null | undefined {
  return field.default_value === "" || field.default_value === null ? field.default_value : undefined;
}

/** Whether the schema receives a blank as text, to explain why it is refused. */
function takesBlankText(field: FieldDescription): boolean {
  return field.is_required && blankOf(field) === undefined;
}

function decodeField(field: FieldDescription, node: unknown): unknown {
  const text = texts(node).at(-1) ?? "";
  switch (field.kind) {
    case "boolean":
      // An unchecked box sends nothing; a hidden field says that it was in the form.
      return text === "on" || text === "true";
    case "number":
      if (text.trim() === "") return undefined;
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case "multiselect":
      return texts(node).filter((item) => item !== "");
    case "group":
      return isObject(node) ? decode(node, field.children) : undefined;
    case "list":
      return decodeList(field, node);
    default:
      // Browsers send CRLF from a textarea; the pasted text had LF.
      if (text === "" && field.is_secret) return undefined;
      if (text === "" && !takesBlankText(field)) return blankOf(field);
      return field.kind === "textarea" ? text.replaceAll("\r\n", "\n") : text;
  }
}

function decodeList(field: FieldDescription, node: unknown): unknown {
  if (!isObject(node)) return [];
  const positions = Object.keys(node)
    .filter((key) => /^\d{1,3}$/.test(key))
    .toSorted((a, b) => Number(a) - Number(b))
    .slice(0, maxEntries);
  return positions.map((position, index) => {
    const row = node[position];
    return isObject(row) ? decode(row, field.entries[index] ?? field.children) : {};
  });
}

function decode(node: Tree, described: readonly FieldDescription[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const field of described) {
    const value = decodeField(field, node[field.name]);
    if (value !== undefined) result[field.name] = value;
  }
  return result;
}

/** An unchecked box sends nothing, which must not look like a missing field with a default. */
function checks(tree: Tree, described: readonly FieldDescription[]): Record<string, unknown> {
  const boxes = described.filter((field) => field.kind === "boolean");
  return Object.fromEntries(boxes.map((field) => [field.name, decodeField(field, tree[field.name])]));
}

/**
 * A submitted form as a service's input. `describe` is called again with the decoded values, because a variant's fields depend on them.
 * Blank secrets are left out, which keeps the stored ones; other blanks are left out where the schema has a default.
 */
export function decodeForm(
  form: FormData,
  describe: (values: Readonly<Record<string, unknown>>) => readonly FieldDescription[],
): Record<string, unknown> {
  const tree = nest(form);
  const plain = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.at(-1);
    if (!isObject(node)) return node;
    const keys = Object.keys(node);
    if (keys.length > 0 && keys.every((key) => /^\d{1,3}$/.test(key))) {
      return keys.toSorted((a, b) => Number(a) - Number(b)).map((key) => plain(node[key]));
    }
    return Object.fromEntries(keys.map((key) => [key, plain(node[key])]));
  };
  const draft = plain(tree);
  const values = isObject(draft) ? draft : {};
  return decode(tree, describe({ ...values, ...checks(tree, describe(values)) }));
}

/**
 * The small buttons of a form, so that forms work without script: `add:sources`, `remove:sources.1`, `set:sorting=semantic`, `redraw`;
 * anything else is `save`. Returns the changed values, or null for `save`.
 */
export function applyFormAction(values: Record<string, unknown>, action: string): Record<string, unknown> | null {
  if (action === "redraw") return values;
  const [verb, path] = action.split(":", 2);
  if (verb === "set" && path !== undefined) {
    const [name = "", value = ""] = path.split("=", 2);
    return { ...values, [name]: value };
  }
  if ((verb !== "add" && verb !== "remove") || path === undefined) return null;
  const copy = structuredClone(values);
  const parts = path.split(".");
  const last = verb === "remove" ? parts.pop() : undefined;
  let node: unknown = copy;
  for (const [depth, part] of parts.entries()) {
    const isEnd = depth === parts.length - 1;
    if (Array.isArray(node)) node = node[Number(part)];
    else if (isObject(node)) {
      if (isEnd && !Array.isArray(node[part])) node[part] = [];
      node = node[part];
    } else return copy;
  }
  if (!Array.isArray(node)) return copy;
  if (verb === "add" && node.length < maxEntries) node.push({});
  if (verb === "remove") node.splice(Number(last), 1);
  return copy;
}
