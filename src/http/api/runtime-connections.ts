import {
  AdoptionInput,
  AdoptionProposalsView,
  AdoptionQuery,
  AdoptionView,
  IgnoredTargetsInput,
  IgnoredTargetsView,
} from "../../adoption/schema.ts";
import { imageList, UnusedImageList } from "../../connections/images-schema.ts";
import { ConnectionCheckView, ConnectionPatch, ConnectionView, TargetList } from "../../connections/schema.ts";
import { listQuery } from "../../forms/page.ts";
import type { Services } from "../../services.ts";
import { resourceRoutes } from "./resource.ts";
import { type Route, routesOf } from "./route.ts";

export function runtimeConnectionRoutes({
  connections,
  images,
  adoption,
}: Pick<Services, "connections" | "images" | "adoption">): readonly Route[] {
  const tag = "runtime-connections";
  const route = routesOf(tag);
  return [
    ...resourceRoutes({
      path: "/runtime-connections",
      tag,
      name: "runtime_connection",
      word: "connection",
      service: connections,
      view: ConnectionView,
      list: { summary: "List connections by name, with their last test", query: listQuery(connections.list_shape) },
      create: {
        summary: "Add a connection to a runtime",
        body: connections.Input,
        event: "connection_created",
        refusals: { 409: "Another connection reaches the same targets" },
      },
      get: { summary: "Get a connection" },
      update: {
        summary: "Change a connection; omitted fields are unchanged",
        body: ConnectionPatch,
        refusals: { 409: "Another connection reaches the same targets" },
      },
      remove: { summary: "Delete a connection that no executor uses", refusals: { 409: "Executors use it" } },
    }),
    route("POST", "/runtime-connections/{id}/checks", {
      operation_id: "check_runtime_connection",
      summary: "Test a connection; if the runtime does not respond, the result has `ok: false`",
      answer: { status: 201, description: "The result of the test", schema: ConnectionCheckView },
      perform: ({ context, param }) => connections.check(context.get("actor"), param("id"), context.req.raw.signal),
    }),
    route("GET", "/runtime-connections/{id}/targets", {
      operation_id: "list_targets",
      summary: "List the targets of a connection; those that cannot be updated have the reason",
      answer: { status: 200, description: "Every target", schema: TargetList },
      refusals: { 409: "The connection is disabled", 424: "The runtime did not respond" },
      perform: ({ context, param }) => connections.targets(param("id"), context.req.raw.signal),
    }),
    route("GET", "/runtime-connections/{id}/adoption-proposals", {
      operation_id: "propose_adoptions",
      summary: "Propose trackers and executors for all targets that have no executor",
      query: AdoptionQuery,
      answer: {
        status: 200,
        description:
          "What an adoption would add; repeat the request for `newest`, which is looked up in the background",
        schema: AdoptionProposalsView,
      },
      refusals: { 409: "The connection is disabled", 424: "The runtime did not respond" },
      perform: ({ context, param, query }) => adoption.proposals(param("id"), query, context.req.raw.signal),
    }),
    route("POST", "/runtime-connections/{id}/adoptions", {
      operation_id: "adopt_targets",
      summary: "Add executors and trackers for proposed targets; repeating it changes nothing",
      body: AdoptionInput,
      answer: {
        status: 200,
        description: "What was adopted, and what was not and why",
        schema: AdoptionView,
      },
      refusals: { 409: "The connection is disabled", 424: "The runtime did not respond" },
      perform: ({ context, param, body }) =>
        adoption.adopt(context.get("actor"), param("id"), body, context.req.raw.signal),
    }),
    route("GET", "/runtime-connections/{id}/ignored-targets", {
      operation_id: "list_ignored_targets",
      summary: "List the targets ignored in adoption",
      answer: { status: 200, description: "The ignored targets by name", schema: IgnoredTargetsView },
      perform: ({ param }) => adoption.ignored(param("id")),
    }),
    route("POST", "/runtime-connections/{id}/ignored-targets", {
      operation_id: "ignore_targets",
      summary: "Stop offering targets for adoption",
      body: IgnoredTargetsInput,
      answer: { status: 200, description: "All ignored targets", schema: IgnoredTargetsView },
      perform: async ({ context, param, body }) => {
        await adoption.ignore(context.get("actor"), param("id"), body);
        return await adoption.ignored(param("id"));
      },
    }),
    route("DELETE", "/runtime-connections/{id}/ignored-targets/{ignored_id}", {
      operation_id: "stop_ignoring_target",
      summary: "Stop ignoring a target",
      answer: { status: 204, description: "The target is offered again", schema: null },
      perform: ({ context, param }) => adoption.unignore(context.get("actor"), param("id"), param("ignored_id")),
    }),
    route("GET", "/runtime-connections/{id}/images", {
      operation_id: "list_unused_images",
      summary: "List images that no container uses, with the snapshots that need them",
      query: listQuery(imageList),
      answer: {
        status: 200,
        description: "A page of the images related to Tidemark",
        schema: UnusedImageList,
      },
      refusals: { 409: "The connection is disabled", 424: "The runtime did not respond" },
      perform: async ({ context, param, query }) => {
        const { list, ...all } = await images.unused(param("id"), context.req.raw.signal);
        return { ...all, ...(await list.list(query)) };
      },
    }),
    route("DELETE", "/runtime-connections/{id}/images/{image_id}", {
      operation_id: "remove_unused_image",
      summary: "Remove an image that no container uses and no snapshot needs",
      answer: { status: 204, description: "Removed", schema: null },
      refusals: {
        409: "A container or a snapshot needs it, or it is not offered",
        422: "This is not the ID of an image",
        424: "The runtime did not respond",
      },
      perform: ({ context, param }) =>
        images.remove(context.get("actor"), param("id"), param("image_id"), context.req.raw.signal),
    }),
  ];
}
