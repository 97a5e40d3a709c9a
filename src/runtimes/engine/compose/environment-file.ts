import type { Variables } from "../../../compose-file/interpolate.ts";

interface Assignment {
  value: string;
  /** Position of the bare value in the text, without quotes. */
  start: number;
  end: number;
}

const linePattern = /^[ \t]*(?:export[ \t]+)?(?<name>[A-Za-z_][A-Za-z0-9_.]*)[ \t]*[=:][ \t]*(?<rest>.*)$/;

/**
 * The assignments of a `.env` file, only the last of a name. Complex values (variables, escapes, several lines) count as unknown and are
 * left out.
 */
function assignments(text: string): ReadonlyMap<string, Assignment | null> {
  const found = new Map<string, Assignment | null>();
  let at = 0;
  for (const line of text.split("\n")) {
    const match = linePattern.exec(line.replace(/\r$/, ""));
    const { name, rest = "" } = match?.groups ?? {};
    if (match !== null && name !== undefined) {
      const from = at + match[0].length - rest.length;
      const value = plainValue(rest);
      found.set(
        name,
        value === null ? null : { value: value.text, start: from + value.at, end: from + value.at + value.text.length },
      );
    }
    at += line.length + 1;
  }
  return found;
}

function plainValue(rest: string): { text: string; at: number } | null {
  const quoted = /^(["'])([^"'\\$]*)\1[ \t]*(?:#.*)?$/.exec(rest);
  if (quoted !== null) return { text: quoted[2] ?? "", at: 1 };
  if (/^["']/.test(rest)) return null;
  const bare = rest.replace(/(?:^|[ \t]+)#.*$/, "").trimEnd();
  return /[\\$"'`]/.test(bare) ? null : { text: bare, at: 0 };
}

export interface Environment {
  variables: Variables;
  /** Names whose value is unknown here. */
  unknown: ReadonlySet<string>;
}

export function readEnvironment(text: string): Environment {
  const variables = new Map<string, string>();
  const unknown = new Set<string>();
  for (const [name, found] of assignments(text)) {
    if (found === null) unknown.add(name);
    else variables.set(name, found.value);
  }
  return { variables, unknown };
}

/** The text with a new value for a variable; null when it cannot be replaced. */
export function withVariable(text: string, name: string, value: string): string | null {
  const found = assignments(text).get(name);
  return found === undefined || found === null ? null : text.slice(0, found.start) + value + text.slice(found.end);
}
