/** What a compose file is made of. Members that are undefined are left out. */
export type Yaml = string | number | boolean | readonly Yaml[] | YamlMap;
export interface YamlMap {
  readonly [key: string]: Yaml | undefined;
}

/** The lines of a mapping, in block form; every text is quoted, so none is read as something else. */
export function yamlLines(mapping: YamlMap, indent = 0): readonly string[] {
  return Object.entries(mapping).flatMap(([key, value]) => {
    return value === undefined ? [] : member(`${" ".repeat(indent)}${keyText(key)}:`, value, indent);
  });
}

function member(head: string, value: Yaml, indent: number): readonly string[] {
  if (typeof value !== "object") return [`${head} ${scalar(value)}`];
  if (isList(value)) {
    return value.length === 0 ? [`${head} []`] : [head, ...value.flatMap((item) => listItem(item, indent + 2))];
  }
  const lines = yamlLines(value, indent + 2);
  return lines.length === 0 ? [`${head} {}`] : [head, ...lines];
}

function listItem(item: Yaml, indent: number): readonly string[] {
  const dash = `${" ".repeat(indent)}-`;
  if (typeof item !== "object") return [`${dash} ${scalar(item)}`];
  if (isList(item))
    return [`${dash} [${item.map((each) => (typeof each === "object" ? "{}" : scalar(each))).join(", ")}]`];
  const [first = "{}", ...others] = yamlLines(item, indent + 2);
  return [`${dash} ${first.trimStart()}`, ...others];
}

function isList(value: readonly Yaml[] | YamlMap): value is readonly Yaml[] {
  return Array.isArray(value);
}

function keyText(key: string): string {
  return /^[a-z][a-z0-9_]*$/.test(key) && !/^(?:y|n|yes|no|on|off|true|false|null)$/.test(key) ? key : scalar(key);
}

/** JSON's quoting is YAML's, but for a few characters that YAML takes for the end of a line or for nothing. */
function scalar(value: string | number | boolean): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
