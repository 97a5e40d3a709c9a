import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { isObject } from "../strict-json.ts";
import type { Route } from "./api/route.ts";

type JsonObject = Record<string, unknown>;

interface OpenApiOptions {
  routes: readonly Route[];
  version: string;
}

export interface OpenApi {
  /** With `base_url` as its only server. */
  document(base_url: string): JsonObject;
  /** The same as text. */
  text(base_url: string): string;
}

const errorSchema: JsonObject = {
  type: "object",
  required: ["error", "request_id"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", description: "Stable, for programs" },
        message: { type: "string", description: "For people" },
        fields: { type: "object", additionalProperties: { type: "string" }, description: "Refused fields by path" },
      },
    },
    request_id: { type: "string" },
  },
};

/** An equivalent pattern without Unicode properties, which most tools for JSON Schema do not support. */
function portablePattern(pattern: string): string {
  return pattern.replaceAll("\\P{Cc}", "[^\\u0000-\\u001f\\u007f-\\u009f]");
}

/** Adds a pattern: the converter keeps only the first of several, and the last is the most specific. */
function withPattern(target: JsonObject, action: object): JsonObject {
  const requirement: unknown = Object.entries(action).find(([key]) => key === "requirement")?.[1];
  if (!(requirement instanceof RegExp)) return target;
  const pattern = portablePattern(requirement.source);
  const before = typeof target.pattern === "string" ? portablePattern(target.pattern) : pattern;
  if (before === pattern) return { ...target, pattern };
  const others = Array.isArray(target.allOf) ? target.allOf : [];
  return { ...target, pattern, allOf: [...others, { pattern: before }] };
}

function jsonSchema(schema: v.GenericSchema, mode: "input" | "output"): JsonObject {
  const result = toJsonSchema(schema, {
    typeMode: mode,
    errorMode: "ignore",
    overrideAction: ({ valibotAction, jsonSchema: target }) => {
      if (valibotAction.type === "regex") return withPattern({ ...target }, valibotAction);
      if (valibotAction.type !== "metadata") return target;
      const metadata: unknown = Object.entries(valibotAction).find(([key]) => key === "metadata")?.[1];
      const says = (key: string) => isObject(metadata) && metadata[key] === true;
      if (says("instant")) return { type: "string", format: "date-time" };
      // What only the form needs (placeholder, option titles) does not belong in the document.
      const names = isObject(metadata) ? Object.keys(metadata) : [];
      const described = Object.fromEntries(Object.entries(target).filter(([key]) => !names.includes(key)));
      return says("secret") ? { ...described, writeOnly: true } : described;
    },
    overrideSchema: ({ valibotSchema, jsonSchema: target }) => {
      // The converter drops the property that discriminates a variant's options.
      if (valibotSchema.type !== "variant") return target;
      const key = Object.entries(valibotSchema).find(([name]) => name === "key")?.[1];
      return typeof key === "string" ? { ...target, discriminator: { propertyName: key } } : target;
    },
  });
  const { $schema: _, ...rest } = result;
  return { ...rest };
}

const idempotencyKey: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Chosen by the client for this request. A request repeated with the same key within a day is carried out once and returns the first response; another request with the same key is refused",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
};

function parameters(route: Route): JsonObject[] {
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const given = route.idempotent === undefined ? inPath : [...inPath, idempotencyKey];
  if (route.query === undefined) return given;
  const schema = jsonSchema(route.query, "input");
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const inQuery = Object.entries(properties).map(([name, property]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(isObject(property) && typeof property.description === "string" ? { description: property.description } : {}),
    schema: property,
  }));
  return [...given, ...inQuery];
}

const reasons: Readonly<Record<number, string>> = {
  400: "The body is not JSON, or nested too deeply",
  401: "The token is missing or not valid",
  403: "Not allowed: the password must be changed first, the token's scope is too small, or the request came from elsewhere",
  404: "Not found",
  409: "Not possible in the current state",
  413: "The body is larger than 1 MiB",
  415: "The body is not declared as JSON",
  422: "Invalid fields; each is named",
  429: "Too many requests; `Retry-After` says when",
  503: "`stopping`: the service is shutting down and has changed nothing; `Retry-After` says when to try again. `database_unreachable`: the remote database did not respond",
  507: "The disk of the database is full",
};

/** Before the request reaches a route. */
const tooLong = { description: "Address and headers exceed 16 KiB together; the response has no body" };

function statuses(route: Route): readonly number[] {
  const found = new Set<number>([503, ...Object.keys(route.refusals ?? {}).map(Number)]);
  if (route.access !== "public") for (const status of [401, 403]) found.add(status);
  if (route.path.includes("{")) found.add(404);
  if (route.query !== undefined || route.body !== undefined || route.idempotent !== undefined) found.add(422);
  if (route.method !== "GET") for (const status of [400, 403, 409, 413, 415, 507]) found.add(status);
  return [...found].toSorted((a, b) => a - b);
}

function operation(route: Route): JsonObject {
  const answer =
    route.answer.schema === null
      ? {
          description: route.answer.description,
          ...(route.answer.media_type === undefined
            ? {}
            : { content: { [route.answer.media_type]: { schema: { type: "string" } } } }),
        }
      : {
          description: route.answer.description,
          content: { "application/json": { schema: jsonSchema(route.answer.schema, "output") } },
        };
  const refusals = statuses(route).map((status) => [
    status,
    {
      description: route.refusals?.[status] ?? reasons[status] ?? "Refused",
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    },
  ]);
  return {
    operationId: route.operation_id,
    summary: route.summary,
    tags: [route.tag],
    parameters: parameters(route),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { "application/json": { schema: jsonSchema(route.body, "input") } } },
        }),
    responses: { [route.answer.status]: answer, ...Object.fromEntries(refusals), 431: tooLong },
    security: route.access === "public" ? [] : [{ bearer: [] }],
  };
}

/**
 * The OpenAPI 3.1 description of the declared routes. Built once, on the first request, because it is public; only the base URL, which may
 * come from the request, varies.
 */
export function openApi(options: OpenApiOptions): OpenApi {
  let made: { before: JsonObject; after: JsonObject; texts: readonly [string, string] } | null = null;
  const parts = () => {
    if (made !== null) return made;
    const before = head(options.version);
    const after = body(options.routes);
    made = { before, after, texts: [JSON.stringify(before).slice(0, -1), JSON.stringify(after).slice(1)] };
    return made;
  };
  const servers = (base_url: string) => [{ url: base_url }];
  return {
    document: (base_url) => ({ ...parts().before, servers: servers(base_url), ...parts().after }),
    text: (base_url) => parts().texts.join(`,"servers":${JSON.stringify(servers(base_url))},`),
  };
}

function head(version: string): JsonObject {
  return {
    openapi: "3.1.0",
    info: { title: "Tidemark", version, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
  };
}

function body(routes: readonly Route[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = `/api${route.path}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    paths,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } },
    },
  };
}

/** A page of a list: the items and where the next page begins. */
export function pageOf<S extends v.GenericSchema>(item: S) {
  return v.object({ items: v.array(item), next_cursor: v.nullable(v.string()) });
}
