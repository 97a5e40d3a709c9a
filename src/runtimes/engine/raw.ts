/** The engine's own JSON, kept unchanged, so that unknown fields are not lost; these functions only read it. */
export type RawObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is RawObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one for `null`, absent and anything else (the engine writes `null` for empty maps). */
export function objectAt(value: unknown): RawObject {
  return isObject(value) ? value : {};
}

export function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringAt(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function stringsAt(value: unknown): readonly string[] {
  return listAt(value).filter((each): each is string => typeof each === "string");
}

export function stringMapAt(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(objectAt(value)).filter((entry): entry is [string, string] => {
    return typeof entry[1] === "string";
  });
  return Object.fromEntries(entries);
}

/** The engine writes "nothing" as `null`, `[]` or `{}`; these are equal. `false`, `0` and `""` are values. */
export function isBlank(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** Whether a setting is unset, for which engines write nothing, `""`, `0` or `false`. */
export function isUnset(value: unknown): boolean {
  return isBlank(value) || value === "" || value === 0 || value === false;
}

/** JSON with sorted keys and without blank members: equal text for equal meaning. */
export function canonical(value: unknown): string {
  return JSON.stringify(normalised(value)) ?? "null";
}

export function isSame(left: unknown, right: unknown): boolean {
  return canonical(left) === canonical(right);
}

function normalised(value: unknown): unknown {
  if (isBlank(value)) return null;
  if (Array.isArray(value)) return value.map(normalised);
  if (!isObject(value)) return value;
  const members = Object.keys(value)
    .sort()
    .filter((key) => !isBlank(value[key]))
    .map((key) => [key, normalised(value[key])] as const);
  return members.length === 0 ? null : Object.fromEntries(members);
}
