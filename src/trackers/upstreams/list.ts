import type { Database } from "../../db/client.ts";
import { listOperations } from "../../forms/page.ts";
import { viewOf } from "../../forms/view.ts";
import { upstreamKey } from "./loads.ts";
import { upstreamLists } from "./queries.ts";
import { UpstreamView, upstreamList } from "./schema.ts";

/** The list of these upstreams, which are in the order of their states. */
export function upstreamOperations({ read }: Database, upstreams: readonly UpstreamView[]) {
  const listed = upstreams.map((upstream, place) => ({ ...upstream, id: upstreamKey(upstream), place }));
  return listOperations({
    shape: upstreamList,
    page: (ask) => upstreamLists.page(read, listed, ask),
    counts: (ask) => upstreamLists.counts(read, listed, ask),
    views: async (rows) => rows.map((row) => viewOf(UpstreamView, row)),
  });
}
