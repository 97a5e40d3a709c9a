/**
 * Variables in the text of a compose file, as compose reads them: `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME:?error}`,
 * `${NAME:+other}`, the same without the colon, and `$$` for a dollar sign. The word after an operator may contain further variables.
 */
export type TemplatePart = LiteralPart | VariablePart;

/** `start` and `end` are positions in the text. */
interface LiteralPart {
  kind: "literal";
  start: number;
  end: number;
  text: string;
}

interface VariablePart {
  kind: "variable";
  start: number;
  end: number;
  name: string;
  operator: "" | ":-" | "-" | ":?" | "?" | ":+" | "+";
  word: readonly TemplatePart[];
}

export type Variables = ReadonlyMap<string, string>;

/** A part of a result, and where its text comes from. */
export type Piece =
  | { kind: "text"; text: string; start: number; end: number; is_default: boolean }
  | { kind: "variable"; text: string; name: string; is_set: boolean };

const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y;
const operatorPattern = /:?[-?+]/y;
/** How deep a default may contain another one. */
const maxDepth = 20;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** Null for what compose refuses, such as `${` without a name. */
export function parseTemplate(text: string): readonly TemplatePart[] | null {
  return parseBetween(text, 0, text.length, 0);
}

function parseBetween(text: string, from: number, to: number, depth: number): readonly TemplatePart[] | null {
  if (depth > maxDepth) return null;
  const parts: TemplatePart[] = [];
  let literalStart = from;
  let at = from;
  const endLiteral = (end: number) => {
    if (end > literalStart)
      parts.push({ kind: "literal", start: literalStart, end, text: text.slice(literalStart, end) });
  };
  while (at < to) {
    const next = text[at + 1];
    if (text[at] !== "$" || at + 1 >= to) {
      at += 1;
      continue;
    }
    if (next === "$") {
      endLiteral(at);
      parts.push({ kind: "literal", start: at, end: at + 2, text: "$" });
      at += 2;
      literalStart = at;
      continue;
    }
    if (next === "{") {
      const variable = parseBraced(text, at, to, depth);
      if (variable === null) return null;
      endLiteral(at);
      parts.push(variable);
      at = variable.end;
      literalStart = at;
      continue;
    }
    const name = matchAt(namePattern, text, at + 1).slice(0, to - at - 1);
    if (name !== "") {
      endLiteral(at);
      const end = at + 1 + name.length;
      parts.push({ kind: "variable", start: at, end, name, operator: "", word: [] });
      literalStart = end;
    }
    // A `$` before anything else is an ordinary character.
    at += 1 + name.length;
  }
  endLiteral(to);
  return parts;
}

function parseBraced(text: string, start: number, to: number, depth: number): VariablePart | null {
  const name = matchAt(namePattern, text, start + 2);
  const nameEnd = start + 2 + name.length;
  if (name === "" || nameEnd >= to) return null;
  if (text[nameEnd] === "}") {
    return { kind: "variable", start, end: nameEnd + 1, name, operator: "", word: [] };
  }
  const operator = matchAt(operatorPattern, text, nameEnd);
  if (operator === "") return null;
  const close = closingBrace(text, start, to);
  const wordStart = nameEnd + operator.length;
  if (close < wordStart) return null;
  const word = parseBetween(text, wordStart, close, depth + 1);
  if (word === null) return null;
  return { kind: "variable", start, end: close + 1, name, operator: operator as VariablePart["operator"], word };
}

/** Compose's own count, which passes over the character after each `{`; without a match the last brace of the line closes. */
function closingBrace(text: string, start: number, to: number): number {
  const lineEnd = text.indexOf("\n", start);
  const last = text.lastIndexOf("}", (lineEnd === -1 || lineEnd > to ? to : lineEnd) - 1);
  let open = 0;
  for (let at = start; at <= last; at += 1) {
    if (text[at] === "}") {
      open -= 1;
      if (open === 0) return at;
    } else if (text[at] === "{") {
      open += 1;
      at += 1;
    }
  }
  return last;
}

/** What a template results in, piece by piece; null when a required variable is missing. */
export function evaluate(parts: readonly TemplatePart[], variables: Variables): readonly Piece[] | null {
  return evaluateIn(parts, variables, false);
}

function evaluateIn(parts: readonly TemplatePart[], variables: Variables, isDefault: boolean): readonly Piece[] | null {
  const pieces: Piece[] = [];
  for (const part of parts) {
    if (part.kind === "literal") {
      pieces.push({ kind: "text", text: part.text, start: part.start, end: part.end, is_default: isDefault });
      continue;
    }
    const { name, operator, word } = part;
    const value = variables.get(name);
    const isSet = value !== undefined && (value !== "" || !operator.startsWith(":"));
    if (operator.endsWith("?") && !isSet) return null;
    const isWord = operator.endsWith("+") ? isSet : operator.endsWith("-") && !isSet;
    if (!isWord) {
      if (!operator.endsWith("+")) {
        pieces.push({ kind: "variable", text: value ?? "", name, is_set: value !== undefined });
      }
      continue;
    }
    const inner = evaluateIn(word, variables, true);
    if (inner === null) return null;
    // An empty default can be filled in too.
    const at = part.end - 1;
    pieces.push(
      ...(word.length > 0 ? inner : [{ kind: "text", text: "", start: at, end: at, is_default: true } as const]),
    );
  }
  return pieces;
}

export function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join("");
}

export function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}

/** Every variable that the text mentions, also within defaults. */
export function variablesIn(parts: readonly TemplatePart[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const part of parts) {
    if (part.kind === "literal") continue;
    names.add(part.name);
    for (const name of variablesIn(part.word)) names.add(name);
  }
  return names;
}
