import type { TrackerService } from "../../trackers/service.ts";
import { UpstreamsView } from "../../trackers/upstreams/schema.ts";
import type { Route } from "./route.ts";

export function upstreamRoutes(services: { trackers: TrackerService }): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/upstreams",
      operation_id: "list_upstreams",
      summary: "What the trackers ask of each host and credential, and what it allows",
      tag: "trackers",
      access: "read",
      answer: { status: 200, description: "The most strained first", schema: UpstreamsView },
      perform: () => services.trackers.upstreams(),
    },
  ];
}
