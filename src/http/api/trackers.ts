import { listQuery, PageQuery } from "../../forms/page.ts";
import type { Services } from "../../services.ts";
import { ImportInput, ProposalsView } from "../../trackers/import/schema.ts";
import { ComparisonView, NotesQuery, NotesView } from "../../trackers/notes/schema.ts";
import { ExplanationQuery, ExplanationView, PreviewView } from "../../trackers/previews/schema.ts";
import { ReleaseDetailView, ReleaseQuery, ReleaseView, VersionView } from "../../trackers/releases/schema.ts";
import {
  CheckView,
  PreviewInput,
  TrackerInput,
  TrackerPatch,
  TrackerView,
  trackerList,
} from "../../trackers/schema.ts";
import { UpstreamsView, upstreamList } from "../../trackers/upstreams/schema.ts";
import { pageOf } from "../openapi.ts";
import { resourceRoutes } from "./resource.ts";
import { type Route, routesOf } from "./route.ts";

export function trackerRoutes({ trackers }: Pick<Services, "trackers">): readonly Route[] {
  const tag = "trackers";
  const route = routesOf(tag);
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
        query: listQuery(trackerList),
      },
      create: {
        summary: "Add a tracker; its first check is due at once",
        body: TrackerInput,
        event: "tracker_created",
      },
      get: { summary: "Get a tracker" },
      update: {
        summary: "Change a tracker; omitted fields are unchanged, and sources with the same key keep their history",
        body: TrackerPatch,
        refusals: { 409: "`in_use`: an executor is bound to a source or channel that would be removed" },
      },
      remove: {
        summary: "Delete a tracker, with its history, that no executor is bound to",
        refusals: { 409: "`in_use`: executors are bound to it" },
      },
    }),
    route("POST", "/trackers/{name}/checks", {
      operation_id: "check_tracker",
      summary: "Check every source of a tracker now",
      answer: {
        status: 202,
        description: "The check was started; query its state to see when it ends",
        schema: CheckView,
      },
      idempotent: { events: ["tracker_checked"], again: ({ name }) => trackers.checkState(name) },
      perform: ({ context, param }) => trackers.requestCheck(context.get("actor"), param("name")),
    }),
    route("GET", "/trackers/{name}/checks", {
      operation_id: "get_tracker_check",
      summary: "Get the state of a tracker's check",
      answer: { status: 200, description: "The sources and whether they wait for a check", schema: CheckView },
      perform: ({ param }) => trackers.checkState(param("name")),
    }),
    route("GET", "/trackers/{name}/versions", {
      operation_id: "list_tracker_versions",
      summary: "List a tracker's versions, each with all sources that have it, last published first",
      query: ReleaseQuery,
      answer: { status: 200, description: "A page of versions", schema: pageOf(VersionView) },
      perform: ({ param, query }) => trackers.versions(param("name"), query),
    }),
    route("GET", "/trackers/{name}/releases", {
      operation_id: "list_tracker_releases",
      summary: "List a tracker's releases, last published first",
      query: ReleaseQuery,
      answer: { status: 200, description: "A page of releases", schema: pageOf(ReleaseView) },
      perform: ({ param, query }) => trackers.releases(param("name"), query),
    }),
    route("GET", "/trackers/{name}/releases/{id}", {
      operation_id: "get_tracker_release",
      summary: "Get a release with its notes, which are raw text from upstream",
      answer: { status: 200, description: "The release", schema: ReleaseDetailView },
      perform: ({ param }) => trackers.getRelease(param("name"), param("id")),
    }),
    route("GET", "/trackers/{name}/explanation", {
      operation_id: "explain_tracker_tag",
      summary: "Explain why each channel accepts or rejects a tag",
      query: ExplanationQuery,
      answer: { status: 200, description: "Each source's channels and their verdicts", schema: ExplanationView },
      perform: ({ param, query }) => trackers.explain(param("name"), query),
    }),
    route("GET", "/trackers/{name}/notes", {
      operation_id: "get_tracker_notes",
      summary: "Get the release notes of all versions between two, newest first, as raw text from upstream",
      query: NotesQuery,
      answer: { status: 200, description: "The versions with their notes and breaking changes", schema: NotesView },
      perform: ({ param, query }) => trackers.notesBetween(param("name"), query),
    }),
    route("GET", "/trackers/{name}/comparison", {
      operation_id: "compare_tracker_versions",
      summary: "Compare two versions of a tracker; without `from`, the one before `to`",
      query: NotesQuery,
      answer: {
        status: 200,
        description: "The versions between the two with their notes, the distance between them, and their pages",
        schema: ComparisonView,
      },
      perform: ({ param, query }) => trackers.comparison(param("name"), query),
    }),
    route("POST", "/tracker-previews", {
      operation_id: "preview_tracker",
      summary: "Preview which upstream versions a source's rules accept, without saving",
      // It sends the credential to whatever registry the input names.
      body: PreviewInput,
      answer: { status: 200, description: "The tags with each channel's verdict", schema: PreviewView },
      refusals: { 424: "`upstream_failed`: upstream could not be queried; the message says why" },
      perform: ({ body }) => trackers.preview(body),
    }),
    route("POST", "/tracker-proposals", {
      operation_id: "propose_trackers",
      summary: "Propose trackers from a compose file, a list of images or another tool's configuration",
      access: "read",
      body: ImportInput,
      answer: {
        status: 200,
        description:
          "Trackers that `POST /api/trackers` accepts one by one; nothing is added and no upstream is queried",
        schema: ProposalsView,
      },
      perform: ({ body }) => trackers.proposals(body),
    }),
    route("GET", "/upstreams", {
      operation_id: "list_upstreams",
      summary: "List the requests of trackers to each host and credential, and what it allows",
      query: listQuery(upstreamList),
      answer: { status: 200, description: "A page of upstreams, and all outages", schema: UpstreamsView },
      perform: async ({ query }) => {
        const { list, ...all } = await trackers.upstreams();
        return { ...all, ...(await list.list(query)) };
      },
    }),
    route("GET", "/releases", {
      operation_id: "list_releases",
      summary: "List the releases of all trackers, last observed first",
      tag: "releases",
      query: PageQuery,
      answer: { status: 200, description: "A page of releases", schema: pageOf(ReleaseView) },
      perform: ({ query }) => trackers.recentReleases(query),
    }),
  ];
}
