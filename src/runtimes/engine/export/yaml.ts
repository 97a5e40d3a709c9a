import { Document, visit } from "yaml";

/** A value in a compose file. Undefined members are left out. */
export type Yaml = string | number | boolean | readonly Yaml[] | YamlMap;
export interface YamlMap {
  readonly [key: string]: Yaml | undefined;
}

/**
 * The lines of a mapping, in block style. Every text is quoted, so that no parser reads it as another type. Simple keys are plain, unless
 * YAML 1.1 or 1.2 would read them as another type (`on`, `null`).
 */
export function yamlLines(mapping: YamlMap): readonly string[] {
  const document = new Document(mapping, { compat: "yaml-1.1" });
  visit(document, {
    Scalar: (place, scalar) => {
      const isPlain = typeof scalar.value !== "string" || (place === "key" && /^[a-z][a-z0-9_]*$/.test(scalar.value));
      scalar.type = isPlain ? "PLAIN" : "QUOTE_DOUBLE";
    },
  });
  const text = document.toString({ lineWidth: 0 });
  return text === "{}\n" ? [] : text.trimEnd().split("\n").map(escaped);
}

/** Escapes characters that older YAML parsers, including compose's, read as a line end or drop. Only quoted texts contain them. */
function escaped(line: string): string {
  return line.replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
