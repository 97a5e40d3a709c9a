import type { ConnectionImageService } from "../../connections/images.ts";
import { UnusedImageList } from "../../connections/images-schema.ts";
import { ConnectionCheckView, ConnectionPatch, ConnectionView, TargetList } from "../../connections/schema.ts";
import type { ConnectionService } from "../../connections/service.ts";
import { PageQuery } from "../../forms/page.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function runtimeConnectionRoutes(services: {
  connections: ConnectionService;
  images: ConnectionImageService;
}): readonly Route[] {
  const { connections, images } = services;
  const tag = "runtime-connections";
  return [
    {
      method: "GET",
      path: "/runtime-connections",
      operation_id: "list_runtime_connections",
      summary: "List connections by name, with their last test",
      tag,
      access: "read",
      query: PageQuery,
      answer: { status: 200, description: "A page of connections", schema: pageOf(ConnectionView) },
      perform: ({ query }) => connections.list(query),
    },
    {
      method: "POST",
      path: "/runtime-connections",
      operation_id: "create_runtime_connection",
      summary: "Store a connection to a runtime",
      tag,
      access: "full",
      body: connections.Input,
      answer: { status: 201, description: "The connection", schema: ConnectionView },
      idempotent: { events: ["connection_created"], again: ({ id }) => connections.get(id) },
      perform: ({ context, body }) => connections.create(context.get("actor"), body),
    },
    {
      method: "GET",
      path: "/runtime-connections/{id}",
      operation_id: "get_runtime_connection",
      summary: "Read a connection",
      tag,
      access: "read",
      answer: { status: 200, description: "The connection", schema: ConnectionView },
      perform: ({ param }) => connections.get(param("id")),
    },
    {
      method: "PATCH",
      path: "/runtime-connections/{id}",
      operation_id: "update_runtime_connection",
      summary: "Change a connection; what is left out stays",
      tag,
      access: "full",
      body: ConnectionPatch,
      answer: { status: 200, description: "The connection", schema: ConnectionView },
      perform: ({ context, param, body }) => connections.update(context.get("actor"), param("id"), body),
    },
    {
      method: "DELETE",
      path: "/runtime-connections/{id}",
      operation_id: "delete_runtime_connection",
      summary: "Delete a connection that no executor uses",
      tag,
      access: "full",
      answer: { status: 204, description: "Deleted", schema: null },
      refusals: { 409: "Executors use it" },
      perform: ({ context, param }) => connections.remove(context.get("actor"), param("id")),
    },
    {
      method: "POST",
      path: "/runtime-connections/{id}/checks",
      operation_id: "check_runtime_connection",
      summary: "Test a connection; a runtime that does not answer is a result with `ok: false`",
      tag,
      access: "full",
      answer: { status: 201, description: "What was found", schema: ConnectionCheckView },
      perform: ({ context, param }) => connections.check(context.get("actor"), param("id"), context.req.raw.signal),
    },
    {
      method: "GET",
      path: "/runtime-connections/{id}/targets",
      operation_id: "list_targets",
      summary: "Discover what can be updated, and what cannot with the reason",
      tag,
      access: "read",
      answer: { status: 200, description: "Every target", schema: TargetList },
      refusals: { 409: "The connection is disabled", 424: "The runtime did not answer" },
      perform: ({ context, param }) => connections.targets(param("id"), context.req.raw.signal),
    },
    {
      method: "GET",
      path: "/runtime-connections/{id}/images",
      operation_id: "list_unused_images",
      summary: "List images that no container uses, with the snapshots that need them",
      tag,
      access: "read",
      answer: {
        status: 200,
        description: "Every image that Tidemark has something to do with",
        schema: UnusedImageList,
      },
      refusals: { 409: "The connection is disabled", 424: "The runtime did not answer" },
      perform: ({ context, param }) => images.list(param("id"), context.req.raw.signal),
    },
    {
      method: "DELETE",
      path: "/runtime-connections/{id}/images/{image_id}",
      operation_id: "remove_unused_image",
      summary: "Remove an image that no container uses and no snapshot needs",
      tag,
      access: "full",
      answer: { status: 204, description: "Removed", schema: null },
      refusals: {
        409: "A container or a snapshot needs it, or it is not offered",
        422: "The id is none of an image",
        424: "The runtime did not answer",
      },
      perform: ({ context, param }) =>
        images.remove(context.get("actor"), param("id"), param("image_id"), context.req.raw.signal),
    },
  ];
}
