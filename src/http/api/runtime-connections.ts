import type { ConnectionImageService } from "../../connections/images.ts";
import { UnusedImageList } from "../../connections/images-schema.ts";
import { ConnectionCheckView, ConnectionPatch, ConnectionView, TargetList } from "../../connections/schema.ts";
import type { ConnectionService } from "../../connections/service.ts";
import { PageQuery } from "../../forms/page.ts";
import { resourceRoutes } from "./resource.ts";
import type { Route } from "./route.ts";

export function runtimeConnectionRoutes(services: {
  connections: ConnectionService;
  images: ConnectionImageService;
}): readonly Route[] {
  const { connections, images } = services;
  const tag = "runtime-connections";
  return [
    ...resourceRoutes({
      path: "/runtime-connections",
      tag,
      name: "runtime_connection",
      word: "connection",
      service: connections,
      view: ConnectionView,
      list: { summary: "List connections by name, with their last test", query: PageQuery },
      create: { summary: "Store a connection to a runtime", body: connections.Input, event: "connection_created" },
      get: { summary: "Read a connection" },
      update: { summary: "Change a connection; what is left out stays", body: ConnectionPatch },
      remove: { summary: "Delete a connection that no executor uses", refusals: { 409: "Executors use it" } },
    }),
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
