import {
  TrackerBulkQuestion,
  TrackerBulkResultGone,
  TrackerBulkResultPage,
  trackerBulkPath,
  trackerBulkSummary,
} from "../../../templates/trackers/bulk.tsx";
import { trackerBulkActions } from "../../bulk/schema.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { bulkRoutes } from "./bulk-routes.ts";
import type { PageSettings } from "./page-context.ts";

export function trackerBulkPages(app: App, { tracker_bulk, trackers }: Services, page: PageSettings): void {
  bulkRoutes(app, page, {
    section: "trackers",
    path: trackerBulkPath,
    field: "tracker",
    actions: trackerBulkActions,
    reviewed: ["delete"],
    list: trackers,
    question: async (_c, ctx, { ids, back }) => (
      <TrackerBulkQuestion ctx={ctx} reviews={await tracker_bulk.review(ids)} back={back} />
    ),
    perform: async (actor, action, ids) =>
      await tracker_bulk.perform(actor, { action, trackers: ids.map((id) => ({ id })) }),
    summary: trackerBulkSummary,
    draw: async (ctx, result, back) => <TrackerBulkResultPage ctx={ctx} result={result} back={back} />,
    gone: (ctx) => <TrackerBulkResultGone ctx={ctx} />,
  });
}
