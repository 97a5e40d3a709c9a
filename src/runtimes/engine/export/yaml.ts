import { Document, visit } from "yaml";

/** What a compose file is made of. Members that are undefined are left out. */
export type Yaml = string | number | boolean | readonly Yaml[] | YamlMap;
export interface YamlMap {
  readonly [key: string]: Yaml | undefined;
}

/** The lines of a mapping, in block form; every text is quoted, so none is read as something else. */
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

/** Characters that older readers of YAML, compose's among them, take for the end of a line or for nothing; they stand in quotes alone. */
function escaped(line: string): string {
  return line.replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
