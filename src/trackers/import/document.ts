import { SaidError } from "../../errors.ts";
import { say } from "../../messages/message.ts";

/** Limits on depth and number of nodes of a pasted document: configurations are flat and short. */
const maxDepth = 32;
const maxNodes = 50_000;
/** Per value: its indicator, the mark before a plain text, and the text. */
const maxMarks = 3 * maxNodes;
const maxDocuments = 1_000;
/** What the parser holds besides the open values: the document, and pairs that have begun. */
const aroundValues = 8;

/** A pasted text that cannot be parsed. */
export class ImportError extends SaidError {}

export type Fields = Readonly<Record<string, unknown>>;

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text of a scalar; null for a missing, null or structured value. */
export function textOf(value: unknown): string | null {
  if (typeof value === "string") return value.trim() === "" ? null : value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}

/** `true` and its other spellings in YAML and in labels. */
export function isTrue(value: unknown): boolean {
  return value === true || (typeof value === "string" && /^(true|yes|on|1)$/i.test(value.trim()));
}

export function isFalse(value: unknown): boolean {
  return value === false || (typeof value === "string" && /^(false|no|off|0)$/i.test(value.trim()));
}

/**
 * YAML (which includes JSON) as plain values; several documents as a list. Throws ImportError with the place of the first mistake, and for
 * abuse: multiplying aliases, endless nesting. Detects these while reading, because building a thousand levels takes seconds and then the
 * stack.
 */
export async function readDocuments(text: string): Promise<readonly unknown[]> {
  const { Composer, isScalar, Lexer, LineCounter, Parser, visit } = await import("yaml");
  const lines = new LineCounter();
  const noYaml = (message: string, offset: number) => {
    const { line, col } = lines.linePos(offset);
    return new ImportError(say("imports.no_yaml", { reason: firstLine(message), line, column: col }));
  };
  function* tokens() {
    const parser = new Parser(lines.addNewLine);
    lines.addNewLine(0);
    let marks = 0;
    for (const lexeme of new Lexer().lex(text)) {
      if (!/^[\s#]/.test(lexeme)) marks += 1;
      if (marks > maxMarks || parser.stack.length > maxDepth + aroundValues) throw tooLarge();
      for (const token of parser.next(lexeme)) {
        if (token.type === "error") throw noYaml(token.message, token.offset);
        yield token;
      }
    }
    yield* parser.end();
  }
  // `<<` is not part of YAML 1.2, but compose files use it to share settings. The parser's own search for duplicate keys takes quadratic
  // time.
  const composer = new Composer({ uniqueKeys: false, merge: true, logLevel: "silent" });
  const values: unknown[] = [];
  for (const document of composer.compose(tokens())) {
    const [problem] = document.errors;
    if (problem !== undefined) throw noYaml(problem.message, problem.pos[0]);
    visit(document, {
      Map: (_, { items }) => {
        // A merge key is a symbol here, and may be repeated.
        const keys = items.flatMap(({ key }) =>
          isScalar(key) && typeof key.value !== "symbol" ? [String(key.value)] : [],
        );
        const doubled = firstDoubled(keys);
        if (doubled !== null) throw new ImportError(say("imports.key_twice", { key: doubled.slice(0, 100) }));
      },
    });
    try {
      values.push(document.toJS({ maxAliasCount: 100 }));
    } catch (cause) {
      throw new ImportError(say("imports.too_many_aliases"), cause);
    }
    if (values.length > maxDocuments) throw tooLarge();
  }
  bound(values);
  return values;
}

function firstDoubled(keys: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const key of keys) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return null;
}

function tooLarge(): ImportError {
  return new ImportError(say("imports.too_large", { limit: maxNodes }));
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0]?.replace(/:$/, "").slice(0, 200) ?? "";
}

function bound(values: readonly unknown[]): void {
  let nodes = 0;
  let level: readonly unknown[] = values;
  for (let depth = 0; level.length > 0; depth += 1) {
    nodes += level.length;
    if (depth > maxDepth || nodes > maxNodes) throw tooLarge();
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
}
