import type { GenericSchema } from "valibot";
import type { AuditEvent } from "../../auth/audit-schema.ts";
import type { Actor } from "../../auth/schema.ts";
import type { Page } from "../../forms/page.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export interface ResourceService<View> {
  list(query: unknown): Promise<Page<View>>;
  create(actor: Actor, input: unknown): Promise<View>;
  get(key: string): Promise<View>;
  update(actor: Actor, key: string, input: unknown): Promise<View>;
  remove(actor: Actor, key: string): Promise<void>;
}

type Verb = Pick<Route, "summary" | "refusals">;
type VerbWithBody = Verb & Required<Pick<Route, "body">>;

interface Resource<View> {
  /** Below `/api`: `/runtime-connections`. */
  path: string;
  tag: string;
  /** For operation ids; plural with an `s`: `runtime_connection`. */
  name: string;
  /** For sentences, when it differs: `connection`. */
  word?: string;
  /** The key in the path and in audit events; the id when left out. */
  key?: "id" | "name";
  service: ResourceService<View>;
  view: GenericSchema<unknown, View>;
  list: Verb & Required<Pick<Route, "query">>;
  /** `event`: the audit event of the creation. */
  create: VerbWithBody & { event: AuditEvent };
  get: Verb;
  update: VerbWithBody;
  remove: Verb;
}

type FiveRoutes = readonly [list: Route, create: Route, get: Route, update: Route, remove: Route];

/** The routes to list, create, read, change and delete a resource; its other operations are declared beside them. */
export function resourceRoutes<View>(resource: Resource<View>): FiveRoutes {
  const { path, tag, name, word = name, key = "id", service, view, list, create, get, update, remove } = resource;
  const one = `${path}/{${key}}`;
  const shown = { description: `The ${word}`, schema: view };
  const { event, ...creation } = create;
  return [
    {
      ...{ method: "GET", path, operation_id: `list_${name}s`, tag, access: "read", ...list },
      answer: { status: 200, description: `A page of ${word}s`, schema: pageOf(view) },
      perform: ({ query }) => service.list(query),
    },
    {
      ...{ method: "POST", path, operation_id: `create_${name}`, tag, access: "full", ...creation },
      answer: { status: 201, ...shown },
      idempotent: { events: [event], again: (subject) => service.get(subject[key]) },
      perform: ({ context, body }) => service.create(context.get("actor"), body),
    },
    {
      ...{ method: "GET", path: one, operation_id: `get_${name}`, tag, access: "read", ...get },
      answer: { status: 200, ...shown },
      perform: ({ param }) => service.get(param(key)),
    },
    {
      ...{ method: "PATCH", path: one, operation_id: `update_${name}`, tag, access: "full", ...update },
      answer: { status: 200, ...shown },
      perform: ({ context, param, body }) => service.update(context.get("actor"), param(key), body),
    },
    {
      ...{ method: "DELETE", path: one, operation_id: `delete_${name}`, tag, access: "full", ...remove },
      answer: { status: 204, description: "Deleted", schema: null },
      perform: ({ context, param }) => service.remove(context.get("actor"), param(key)),
    },
  ];
}
