import { ExplanationQuery, ExplanationView } from "../../trackers/previews/schema.ts";
import { ReleaseDetailView, ReleaseQuery, ReleaseView, VersionView } from "../../trackers/releases/schema.ts";
import { CheckView, TrackerInput, TrackerPatch, TrackerQuery, TrackerView } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";
import { pageOf } from "../openapi.ts";
import { resourceRoutes } from "./resource.ts";
import type { Route } from "./route.ts";

export function trackerRoutes(services: { trackers: TrackerService }): readonly Route[] {
  const { trackers } = services;
  const tag = "trackers";
  return [
    ...resourceRoutes({
      path: "/trackers",
      tag,
      name: "tracker",
      key: "name",
      service: trackers,
      view: TrackerView,
      list: {
        summary: "List trackers by name, with each channel's latest and each source's state",
        query: TrackerQuery,
      },
      create: {
        summary: "Create a tracker; its first check is due at once",
        body: TrackerInput,
        event: "tracker_created",
      },
      get: { summary: "Read a tracker" },
      update: {
        summary: "Change a tracker; what is left out stays, sources keep their history by their key",
        body: TrackerPatch,
        refusals: { 409: "`in_use`: an executor is bound to a source or channel that would go" },
      },
      remove: {
        summary: "Delete a tracker with its history, when no executor is bound to it",
        refusals: { 409: "`in_use`: executors are bound to it" },
      },
    }),
    {
      method: "POST",
      path: "/trackers/{name}/checks",
      operation_id: "check_tracker",
      summary: "Check every source of a tracker now",
      tag,
      access: "full",
      answer: { status: 202, description: "The check is under way; ask for it to see its end", schema: CheckView },
      idempotent: { events: ["tracker_checked"], again: ({ name }) => trackers.checkState(name) },
      perform: ({ context, param }) => trackers.requestCheck(context.get("actor"), param("name")),
    },
    {
      method: "GET",
      path: "/trackers/{name}/checks",
      operation_id: "get_tracker_check",
      summary: "See where a tracker's check stands",
      tag,
      access: "read",
      answer: { status: 200, description: "The sources and whether they wait for a check", schema: CheckView },
      perform: ({ param }) => trackers.checkState(param("name")),
    },
    {
      method: "GET",
      path: "/trackers/{name}/versions",
      operation_id: "list_tracker_versions",
      summary: "List a tracker's versions, each with all the sources that show it, the last published first",
      tag,
      access: "read",
      query: ReleaseQuery,
      answer: { status: 200, description: "A page of versions", schema: pageOf(VersionView) },
      perform: ({ param, query }) => trackers.versions(param("name"), query),
    },
    {
      method: "GET",
      path: "/trackers/{name}/releases",
      operation_id: "list_tracker_releases",
      summary: "List a tracker's releases, the last published first",
      tag,
      access: "read",
      query: ReleaseQuery,
      answer: { status: 200, description: "A page of releases", schema: pageOf(ReleaseView) },
      perform: ({ param, query }) => trackers.releases(param("name"), query),
    },
    {
      method: "GET",
      path: "/trackers/{name}/releases/{id}",
      operation_id: "get_tracker_release",
      summary: "Read a release with its notes, which are raw text from upstream",
      tag,
      access: "read",
      answer: { status: 200, description: "The release", schema: ReleaseDetailView },
      perform: ({ param }) => trackers.getRelease(param("name"), param("id")),
    },
    {
      method: "GET",
      path: "/trackers/{name}/explanation",
      operation_id: "explain_tracker_tag",
      summary: "Say why a tag is, or is not, in each channel",
      tag,
      access: "read",
      query: ExplanationQuery,
      answer: { status: 200, description: "Each source's channels and their verdicts", schema: ExplanationView },
      perform: ({ param, query }) => trackers.explain(param("name"), query),
    },
  ];
}
