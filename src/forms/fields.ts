import * as v from "valibot";
import { isObject } from "../strict-json.ts";

export type FieldKind = "text" | "textarea" | "number" | "boolean" | "select" | "multiselect" | "list" | "group";

/** A form field as described by its schema. */
export interface FieldDescription {
  /** Key in its object, snake_case. */
  name: string;
  /** Dotted path from the top, with list positions: `sources.0.config.image`. It is also the input's name. */
  path: string;
  kind: FieldKind;
  title: string;
  description: string;
  is_required: boolean;
  /** Never shown again once stored; a blank in an edit keeps the stored value. */
  is_secret: boolean;
  /** Folded initially. */
  is_advanced: boolean;
  /** Set at creation, read-only afterwards. */
  is_immutable: boolean;
  /** Can also be uploaded as a file, whose text becomes the value. */
  takes_file: boolean;
  /** A regular expression or other code: in a monospaced font. */
  is_code: boolean;
  placeholder: string;
  options: readonly { value: string; title: string }[];
  min: number | null;
  max: number | null;
  /** The discriminant of a variant: another value changes the following fields, so the form is redrawn. */
  is_discriminant: boolean;
  default_value: unknown;
  /** Fields of a group; fields of one entry of a list (their paths have the entry's position). */
  children: readonly FieldDescription[];
  /** For a list: the fields of each existing entry. */
  entries: readonly (readonly FieldDescription[])[];
}

/** What `v.metadata` may say about a field. */
export interface FieldMetadata extends Record<string, unknown> {
  secret?: boolean;
  multiline?: boolean;
  advanced?: boolean;
  immutable?: boolean;
  code?: boolean;
  file?: boolean;
  placeholder?: string;
  /** Shown only while another field of the same object has one of these values; changing that field redraws the form. */
  shown_when?: { field: string; is: readonly string[] };
  /** Refused when blank while shown, although the schema allows leaving it out: its rule depends on another field. */
  required?: boolean;
  /** Titles for a picklist's values. */
  option_titles?: Readonly<Record<string, string>>;
}

type AnySchema = v.GenericSchema;
type Values = Readonly<Record<string, unknown>>;

interface Unwrapped {
  schema: AnySchema;
  isRequired: boolean;
  defaultValue: unknown;
  title: string | undefined;
  description: string | undefined;
  metadata: FieldMetadata;
  checks: readonly v.GenericPipeAction[];
}

function isSchemaOf<T extends string>(schema: AnySchema, type: T): schema is AnySchema & { type: T } {
  return schema.type === type;
}

function property(value: object, name: string): unknown {
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function isSchema(value: unknown): value is AnySchema {
  return typeof value === "object" && value !== null && property(value, "kind") === "schema";
}

function isAction(value: unknown): value is v.GenericPipeAction {
  return typeof value === "object" && value !== null && property(value, "kind") !== "schema";
}

/** Removes `optional`, `nullable` and pipes, keeping their metadata. */
function unwrap(schema: AnySchema): Unwrapped {
  const found: Unwrapped = {
    schema,
    isRequired: true,
    defaultValue: undefined,
    title: v.getTitle(schema),
    description: v.getDescription(schema),
    metadata: v.getMetadata(schema),
    checks: [],
  };
  const checks: v.GenericPipeAction[] = [];
  let current = schema;
  for (;;) {
    const pipe = property(current, "pipe");
    if (Array.isArray(pipe)) checks.push(...pipe.filter(isAction));
    const wrapped = property(current, "wrapped");
    if (!isSchema(wrapped)) break;
    if (current.type !== "nonoptional") found.isRequired = false;
    const fallback = property(current, "default");
    if (fallback !== undefined && found.defaultValue === undefined) {
      found.defaultValue = typeof fallback === "function" ? fallback() : fallback;
    }
    current = wrapped;
    found.title ??= v.getTitle(current);
    found.description ??= v.getDescription(current);
    found.metadata = { ...v.getMetadata(current), ...found.metadata };
  }
  found.schema = current;
  found.checks = checks;
  return found;
}

function bound(checks: readonly v.GenericPipeAction[], type: string): number | null {
  const check = checks.find((action) => action.type === type);
  const requirement = check === undefined ? undefined : property(check, "requirement");
  return typeof requirement === "number" ? requirement : null;
}

function optionsOf(schema: AnySchema): readonly string[] {
  const options = property(schema, "options");
  return Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
}

function kindOf(found: Unwrapped): FieldKind {
  const { schema, metadata } = found;
  if (isSchemaOf(schema, "boolean")) return "boolean";
  if (isSchemaOf(schema, "number")) return "number";
  if (isSchemaOf(schema, "picklist") || isSchemaOf(schema, "literal")) return "select";
  if (isSchemaOf(schema, "object") || isSchemaOf(schema, "strict_object") || isSchemaOf(schema, "variant"))
    return "group";
  if (isSchemaOf(schema, "array")) {
    const item = property(schema, "item");
    return isSchema(item) && unwrap(item).schema.type === "picklist" ? "multiselect" : "list";
  }
  return metadata.multiline ? "textarea" : "text";
}

/** The members of an object; none of anything else. */
export function valuesOf(value: unknown): Values {
  return isObject(value) ? Object.fromEntries(Object.entries(value)) : {};
}

/** The discriminant's values with the object schema of each, for a `v.variant` schema; null for any other. */
function variantOptions(schema: AnySchema): { key: string; options: ReadonlyMap<string, AnySchema> } | null {
  if (!isSchemaOf(schema, "variant")) return null;
  const key = property(schema, "key");
  const list = property(schema, "options");
  if (typeof key !== "string" || !Array.isArray(list)) return null;
  const options = new Map<string, AnySchema>();
  for (const option of list.filter(isSchema)) {
    const discriminant = objectEntries(unwrap(option).schema).find(([name]) => name === key)?.[1];
    const literal = discriminant === undefined ? undefined : property(unwrap(discriminant).schema, "literal");
    if (typeof literal === "string") options.set(literal, option);
  }
  return { key, options };
}

function objectEntries(schema: AnySchema): readonly [string, AnySchema][] {
  const entries = property(schema, "entries");
  if (typeof entries !== "object" || entries === null) return [];
  return Object.entries(entries).filter((entry): entry is [string, AnySchema] => isSchema(entry[1]));
}

function describeField(name: string, schema: AnySchema, path: string, value: unknown): FieldDescription {
  const found = unwrap(schema);
  const kind = kindOf(found);
  const item = property(found.schema, "item");
  const itemSchema = isSchema(item) ? item : null;
  const optionSource = kind === "multiselect" && itemSchema !== null ? unwrap(itemSchema).schema : found.schema;
  const titles = found.metadata.option_titles ?? {};
  const rows = Array.isArray(value) ? value : [];
  return {
    name,
    path,
    kind,
    title: found.title ?? name,
    description: found.description ?? "",
    is_required: (found.isRequired || found.metadata.required === true) && bound(found.checks, "min_length") !== 0,
    is_secret: found.metadata.secret ?? false,
    is_advanced: found.metadata.advanced ?? false,
    is_immutable: found.metadata.immutable ?? false,
    takes_file: found.metadata.file ?? false,
    is_code: found.metadata.code ?? false,
    placeholder: found.metadata.placeholder ?? "",
    options: optionsOf(optionSource).map((option) => ({ value: option, title: titles[option] ?? option })),
    min: bound(found.checks, kind === "number" ? "min_value" : "min_length"),
    max: bound(found.checks, kind === "number" ? "max_value" : "max_length"),
    is_discriminant: false,
    default_value: found.defaultValue,
    children:
      kind === "group"
        ? fields(found.schema, valuesOf(value), path)
        : kind === "list" && itemSchema !== null
          ? fields(itemSchema, {}, `${path}.0`)
          : [],
    entries:
      kind === "list" && itemSchema !== null
        ? rows.map((row, position) => fields(itemSchema, valuesOf(row), `${path}.${position}`))
        : [],
  };
}

/**
 * The fields of an object schema, in order. For a variant, `values` choose the option (by its discriminant, else the first), and the
 * discriminant becomes a select marked `is_discriminant`.
 */
export function fields(schema: AnySchema, values: Values = {}, prefix = ""): readonly FieldDescription[] {
  const at = (name: string) => (prefix === "" ? name : `${prefix}.${name}`);
  const target = unwrap(schema).schema;
  const variant = variantOptions(target);
  if (variant === null) {
    const entries = objectEntries(target);
    return shownFields(
      entries.map(([name, entry]) => describeField(name, entry, at(name), values[name])),
      entries,
      values,
    );
  }
  const names = [...variant.options.keys()];
  const chosen = names.find((name) => name === values[variant.key]) ?? names[0] ?? "";
  const option = variant.options.get(chosen);
  if (option === undefined) return [];
  const entries = objectEntries(unwrap(option).schema);
  const described = entries.map(([name, entry]) => {
    const field = describeField(name, entry, at(name), values[name]);
    if (name !== variant.key) return field;
    const titles = unwrap(entry).metadata.option_titles ?? {};
    return {
      ...field,
      is_discriminant: true,
      default_value: chosen,
      options: names.map((value) => ({ value, title: titles[value] ?? value })),
    };
  });
  return shownFields(described, entries, values);
}

/** Drops fields whose condition is not met; fields that conditions depend on redraw the form. */
function shownFields(
  described: readonly FieldDescription[],
  entries: readonly (readonly [string, AnySchema])[],
  values: Values,
): readonly FieldDescription[] {
  const conditions = new Map(entries.map(([name, entry]) => [name, unwrap(entry).metadata.shown_when]));
  const watched = new Set([...conditions.values()].map((condition) => condition?.field));
  return described
    .filter((field) => {
      const condition = conditions.get(field.name);
      if (condition === undefined) return true;
      const other = described.find(({ name }) => name === condition.field);
      return condition.is.includes(String(values[condition.field] ?? other?.default_value));
    })
    .map((field) => (watched.has(field.name) ? { ...field, is_discriminant: true } : field));
}
