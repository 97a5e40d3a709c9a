/** Stands for a variable without a value until it is clear where it was needed; no image reference contains it. */
export const unsetMark = "\u0001";
const maxNesting = 10;
/** Longer than any reference; expansions beyond this are cut. */
const maxCharacters = 2_000;
const nameAt = /[A-Za-z_][A-Za-z0-9_]{0,100}/y;

export type Variables = ReadonlyMap<string, string>;

export interface Filled {
  /** With `unsetMark` in place of every variable without a value. */
  text: string;
  /** The names of these, and of blank ones. */
  unset: readonly string[];
}

/**
 * Expands variables like compose: `$NAME`, `${NAME}`, `:-` and `-` with a default, `:?` and `?` with a message, `:+` and `+` with a
 * replacement, all of them nested, and `$$` for `$`.
 */
export function fillIn(text: string, variables: Variables): Filled {
  const unset = new Set<string>();
  const filled = new Filling(text.slice(0, maxCharacters), variables, unset).until(null, 0);
  return { text: filled.slice(0, maxCharacters), unset: [...unset] };
}

class Filling {
  #at = 0;
  readonly #text: string;
  readonly #variables: Variables;
  readonly #unset: Set<string>;

  constructor(text: string, variables: Variables, unset: Set<string>) {
    this.#text = text;
    this.#variables = variables;
    this.#unset = unset;
  }

  /** Reads up to a closing brace, or to the end. */
  until(end: "}" | null, depth: number): string {
    let filled = "";
    while (this.#at < this.#text.length && this.#text[this.#at] !== end) {
      const character = this.#text[this.#at];
      this.#at += 1;
      const next = character === "$" ? this.#variable(depth) : character;
      if (filled.length < maxCharacters) filled += next;
    }
    return filled;
  }

  #variable(depth: number): string {
    if (this.#text[this.#at] === "$") {
      this.#at += 1;
      return "$";
    }
    const isBraced = this.#text[this.#at] === "{";
    if (isBraced) this.#at += 1;
    nameAt.lastIndex = this.#at;
    const name = nameAt.exec(this.#text)?.[0];
    if (name === undefined || depth > maxNesting) return isBraced ? "${" : "$";
    this.#at += name.length;
    if (!isBraced) return this.#valueOf(name);
    const [operator = ""] = /^:?[-?+]/.exec(this.#text.slice(this.#at, this.#at + 2)) ?? [];
    this.#at += operator.length;
    const asked = new Set(this.#unset);
    const other = this.until("}", depth + 1);
    this.#at += 1;
    const value = this.#variables.get(name);
    const isSet = value !== undefined && (value !== "" || !operator.startsWith(":"));
    const takesOther = operator.endsWith("+") ? isSet : operator.endsWith("-") && !isSet;
    // An unused branch does not need its variables.
    if (!takesOther) for (const each of this.#unset) if (!asked.has(each)) this.#unset.delete(each);
    if (takesOther) return other;
    if (operator.endsWith("+")) return "";
    return operator === "" || isSet ? this.#valueOf(name) : this.#missing(name);
  }

  #valueOf(name: string): string {
    const value = this.#variables.get(name);
    if (value === undefined) return this.#missing(name);
    if (value === "") this.#unset.add(name);
    return value;
  }

  #missing(name: string): string {
    this.#unset.add(name);
    return unsetMark;
  }
}

/** The values of a `.env` file: `NAME=value`, with `export`, quotes, comments and earlier names expanded. */
export function readVariables(text: string): Variables {
  const variables = new Map<string, string>();
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, name, written = ""] =
      /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]{0,100})\s*=(.*)$/.exec(line.slice(0, maxCharacters).trim()) ?? [];
    if (name === undefined) continue;
    const [, quote, quoted] = /^(["'])(.*?)\1(?:\s+#.*)?$/.exec(written.trim()) ?? [];
    const value = quoted ?? written.replace(/(?:^|\s)#.*$/, "").trim();
    variables.set(name, quote === "'" ? value : fillIn(value, variables).text.replaceAll(unsetMark, ""));
  }
  return variables;
}
