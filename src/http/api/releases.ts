import { PageQuery } from "../../forms/page.ts";
import { ReleaseView } from "../../trackers/releases/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function releaseRoutes(services: { trackers: TrackerService }): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/releases",
      operation_id: "list_releases",
      summary: "List the releases of all trackers, the last observed first",
      tag: "releases",
      access: "read",
      query: PageQuery,
      answer: { status: 200, description: "A page of releases", schema: pageOf(ReleaseView) },
      perform: ({ query }) => services.trackers.recentReleases(query),
    },
  ];
}
