/**
 * Variables in a compose file's text: `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME:?error}`, `${NAME:+other}`, and the same without the
 * colon.
 */
export interface Variable {
  name: string;
  operator: "" | ":-" | "-" | ":?" | "?" | ":+" | "+";
  word: string;
}

/** `start` and `end` are a part's position in the text. */
export interface TemplatePart {
  start: number;
  end: number;
  /** Its meaning; for a variable its source text. */
  text: string;
  variable: Variable | null;
}

export type Variables = ReadonlyMap<string, string>;

const partPattern =
  /\$\$|\$(?<plain>[A-Za-z_][A-Za-z0-9_]*)|\$\{(?<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?<operator>:?[-?+])(?<word>[^${}]*))?\}/g;

/** Null for anything unsupported: nested variables, and a `$` that begins none. */
export function parseTemplate(text: string): readonly TemplatePart[] | null {
  const parts: TemplatePart[] = [];
  let end = 0;
  const literal = (until: number) => {
    const between = text.slice(end, until);
    if (between !== "") parts.push({ start: end, end: until, text: between, variable: null });
    return !between.includes("$");
  };
  for (const match of text.matchAll(partPattern)) {
    if (!literal(match.index)) return null;
    end = match.index + match[0].length;
    const { plain, name = plain, operator = "", word = "" } = match.groups ?? {};
    const variable = name === undefined ? null : { name, operator: operator as Variable["operator"], word };
    parts.push({ start: match.index, end, text: variable === null ? "$" : match[0], variable });
  }
  return literal(text.length) ? parts : null;
}

/** The result in compose; null when a required variable is not set. */
export function evaluate(parts: readonly TemplatePart[], variables: Variables): string | null {
  const values = parts.map((part) => (part.variable === null ? part.text : resultOf(part.variable, variables)));
  return values.includes(null) ? null : values.join("");
}

function resultOf({ name, operator, word }: Variable, variables: Variables): string | null {
  const value = variables.get(name);
  const isThere = isSet(operator, value);
  if (operator.endsWith("+")) return isThere ? word : "";
  if (isThere) return value ?? "";
  if (operator.endsWith("?")) return null;
  return operator === "" ? "" : word;
}

/** With a colon an empty value counts as not set. */
function isSet(operator: Variable["operator"], value: string | undefined): boolean {
  return value !== undefined && (value !== "" || !operator.startsWith(":"));
}

export type TemplateEdit =
  /** Replace the whole text with this. */
  | { kind: "text"; text: string }
  /** Give the variable this value. */
  | { kind: "variable"; name: string; value: string };

const plainValue = /^[A-Za-z0-9._+/:@-]+$/;

/**
 * The smallest edit that makes a text mean `wanted`: another value of one variable, another default, or else plain text instead of
 * everything.
 */
export function editTemplate(
  text: string,
  parts: readonly TemplatePart[],
  variables: Variables,
  wanted: string,
): TemplateEdit {
  for (const [index, { variable, start, end }] of parts.entries()) {
    if (variable === null || variable.operator.endsWith("+")) continue;
    if (parts.some((each, other) => other !== index && each.variable?.name === variable.name)) continue;
    const before = evaluate(parts.slice(0, index), variables);
    const after = evaluate(parts.slice(index + 1), variables);
    if (before === null || after === null || wanted.length <= before.length + after.length) continue;
    if (!wanted.startsWith(before) || !wanted.endsWith(after)) continue;
    const value = wanted.slice(before.length, wanted.length - after.length);
    if (!plainValue.test(value)) continue;
    const { name, operator } = variable;
    if (isSet(operator, variables.get(name))) return { kind: "variable", name, value };
    if (!operator.endsWith("-")) continue;
    return { kind: "text", text: `${text.slice(0, start)}\${${name}${operator}${value}}${text.slice(end)}` };
  }
  return { kind: "text", text: wanted };
}
