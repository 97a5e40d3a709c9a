import type { ApiBound, ApiNode, ApiOperation, ApiParameter, ApiResource } from "../../../templates/docs/view.ts";
import { valuesOf as object } from "../../forms/fields.ts";

type Json = Readonly<Record<string, unknown>>;

/** Deeper parts of a schema are left to the document itself; ours are far flatter. */
const maxDepth = 8;

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** The alternatives of a schema without `null`, which only makes it nullable; a single alternative is the schema itself. */
function alternatives(schema: Json): { options: readonly Json[]; isNullable: boolean } {
  const all = [...list(schema.anyOf), ...list(schema.oneOf)].map(object).flatMap((option) => {
    const inner = alternatives(option);
    return inner.options.length > 0 ? [...inner.options, ...(inner.isNullable ? [{ type: "null" }] : [])] : [option];
  });
  return { options: all.filter((option) => option.type !== "null"), isNullable: all.some((o) => o.type === "null") };
}

function literal(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : JSON.stringify(value);
}

function typeName(schema: Json): string {
  const { options, isNullable } = alternatives(schema);
  // What the value must finally be, beside the forms in which it may be written.
  if (options.length > 0 && typeof schema.type !== "string") {
    const names = [...new Set(options.map(typeName))];
    return [...names, ...(isNullable ? ["null"] : [])].join(" | ");
  }
  if (schema.format === "date-time") return "instant";
  if (schema.type === "array") return `${typeName(object(schema.items))}[]`;
  if ("const" in schema) return typeof schema.const;
  return text(schema.type) || "any";
}

function bounds(schema: Json): readonly ApiBound[] {
  const found: ApiBound[] = [];
  const pair = (kind: "length" | "range" | "items", low: unknown, high: unknown) => {
    const [min, max] = [number(low), number(high)];
    if (min !== null || max !== null) found.push({ kind, min, max });
  };
  pair("length", schema.minLength, schema.maxLength);
  pair("range", schema.minimum, schema.maximum);
  pair("items", schema.minItems, schema.maxItems);
  if (schema.default !== undefined && schema.default !== "")
    found.push({ kind: "default", value: literal(schema.default) });
  return found;
}

function values(schema: Json): readonly string[] {
  if ("const" in schema) return [literal(schema.const)];
  if (Array.isArray(schema.enum)) return schema.enum.map(literal);
  return schema.type === "array" ? values(object(schema.items)) : [];
}

/** A blank that keeps the stored text is explained in the operation's summary; alone it would read as the only value. */
function isTold(value: string): boolean {
  return value !== '""';
}

function children(schema: Json, depth: number): readonly ApiNode[] {
  if (depth > maxDepth) return [];
  if (schema.type === "array") return children(object(schema.items), depth);
  const required = list(schema.required);
  const named = Object.entries(object(schema.properties)).map(([name, entry]) =>
    describeNode(name, object(entry), required.includes(name), depth + 1),
  );
  const rest = schema.additionalProperties;
  return typeof rest === "object" && rest !== null && Object.keys(rest).length > 0
    ? [...named, describeNode("*", object(rest), false, depth + 1)]
    : named;
}

/** The value that distinguishes an alternative: `kind: "oci"`. */
function variantTitle(option: Json, discriminator: string, index: number): string {
  const properties = object(option.properties);
  const told = discriminator === "" ? undefined : object(properties[discriminator]).const;
  if (told !== undefined) return `${discriminator}: ${literal(told)}`;
  const first = Object.entries(properties).find(([, entry]) => "const" in object(entry));
  return first === undefined ? `${index + 1}` : `${first[0]}: ${literal(object(first[1]).const)}`;
}

function describeNode(name: string, schema: Json, isRequired: boolean, depth: number): ApiNode {
  const { options } = alternatives(schema);
  const shapes = options.filter((option) => "properties" in option);
  const [only] = options;
  // A single alternative, such as of a nullable, reads as the thing itself.
  const own = options.length === 1 && only !== undefined ? { ...only, ...withoutAlternatives(schema) } : schema;
  const discriminator = text(object(schema.discriminator).propertyName);
  return {
    name,
    type: typeName(schema),
    is_required: isRequired,
    is_write_only: own.writeOnly === true || options.some((option) => option.writeOnly === true),
    description:
      text(own.description) || (options.map((option) => text(option.description)).find((each) => each !== "") ?? ""),
    values: shapes.length > 1 ? [] : options.length > 1 ? options.flatMap(values).filter(isTold) : values(own),
    bounds: options.length > 1 && typeof schema.type !== "string" ? options.flatMap(bounds) : bounds(own),
    children: shapes.length > 1 ? [] : children(shapes[0] ?? own, depth),
    variants:
      shapes.length > 1
        ? shapes.map((option, index) => ({
            title: variantTitle(option, discriminator, index),
            children: children(option, depth),
          }))
        : [],
  };
}

function withoutAlternatives({ anyOf: _any, oneOf: _one, ...rest }: Json): Json {
  return rest;
}

/** A value for the reader to replace: the default, the first allowed value, or a word of the field's type. */
function sample(name: string, schema: Json, depth = 0): unknown {
  if (schema.default !== undefined && schema.default !== "") return schema.default;
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [first] = alternatives(schema).options.filter((option) => option.const !== "");
  if (first !== undefined) return sample(name, first, depth);
  if (schema.type === "array") return depth > maxDepth ? [] : [sample(name, object(schema.items), depth + 1)];
  if (schema.type === "object" || "properties" in schema) {
    const required = list(schema.required);
    const entries = Object.entries(object(schema.properties));
    // A patch requires nothing: its first field is the example.
    const shown = required.length > 0 ? entries.filter(([key]) => required.includes(key)) : entries.slice(0, 1);
    return Object.fromEntries(shown.map(([key, entry]) => [key, sample(key, object(entry), depth + 1)]));
  }
  if (schema.type === "boolean") return true;
  if (schema.type === "number" || schema.type === "integer") return number(schema.minimum) ?? 1;
  return text(schema.placeholder) || `<${name}>`;
}

/** Stands for the base URL in the result of `describeApi`. */
const anyBase = "https://base-url.invalid";

function quoted(part: string): string {
  return `'${part.replaceAll("'", "'\\''")}'`;
}

function curl(path: string, method: string, isPublic: boolean, body: Json | null): string {
  const address = `${anyBase}${path.replaceAll(/\{(\w+)\}/g, "<$1>")}`;
  return [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(address)}`,
    ...(isPublic ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === null
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(sample("", body), null, 2))}`]),
  ].join(" \\\n  ");
}

function contentSchema(holder: Json): Json | null {
  const media = object(object(holder.content)["application/json"]);
  return "schema" in media ? object(media.schema) : null;
}

function describeParameter(parameter: Json): ApiParameter {
  const schema = { ...object(parameter.schema), description: text(parameter.description) };
  return {
    place: parameter.in === "path" ? "path" : "query",
    node: describeNode(text(parameter.name), schema, parameter.required === true, 0),
  };
}

function describeOperation(path: string, method: string, operation: Json): ApiOperation {
  const responses = Object.entries(object(operation.responses)).map(([status, answer]) => ({
    status,
    ...object(answer),
  }));
  const answers = responses.map((answer) => ({
    status: answer.status,
    description: text(object(answer).description),
    schema: contentSchema(answer),
  }));
  const good = answers.find(({ status }) => status.startsWith("2"));
  const body = operation.requestBody === undefined ? null : contentSchema(object(operation.requestBody));
  const isPublic = Array.isArray(operation.security) && operation.security.length === 0;
  return {
    id: text(operation.operationId),
    method: method.toUpperCase(),
    path,
    summary: text(operation.summary),
    is_public: isPublic,
    parameters: list(operation.parameters).map((parameter) => describeParameter(object(parameter))),
    body: body === null ? null : describeNode("", body, true, 0),
    answer: {
      status: good?.status ?? "",
      description: good?.description ?? "",
      node: good?.schema ? describeNode("", good.schema, true, 0) : null,
    },
    refusals: answers
      .filter(({ status }) => !status.startsWith("2"))
      .map(({ status, description }) => ({ status, description })),
    curl: curl(path, method.toUpperCase(), isPublic, body),
  };
}

/** The same, with examples for the instance at `base`. */
export function describedAt(base: string, resources: readonly ApiResource[]): readonly ApiResource[] {
  const shown = quoted(base).slice(1, -1);
  return resources.map(({ name, operations }) => ({
    name,
    operations: operations.map((operation) => ({ ...operation, curl: operation.curl.replace(anyBase, () => shown) })),
  }));
}

/**
 * The OpenAPI document as pages show it: operations by resource, in declaration order. It is expensive and independent of the base URL,
 * which may come from the request: `describedAt` inserts it.
 */
export function describeApi(document: Json): readonly ApiResource[] {
  const resources = new Map<string, ApiOperation[]>();
  for (const [path, methods] of Object.entries(object(document.paths))) {
    for (const [method, operation] of Object.entries(object(methods))) {
      const name = text(list(object(operation).tags)[0]);
      const operations = resources.get(name) ?? [];
      resources.set(name, operations);
      operations.push(describeOperation(path, method, object(operation)));
    }
  }
  return [...resources].map(([name, operations]) => ({ name, operations }));
}
