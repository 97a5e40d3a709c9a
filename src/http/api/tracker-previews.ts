import { PreviewView } from "../../trackers/previews/schema.ts";
import { PreviewInput } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";
import type { Route } from "./route.ts";

export function trackerPreviewRoutes(services: { trackers: TrackerService }): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/tracker-previews",
      operation_id: "preview_tracker",
      summary: "Judge what upstream has by a source's rules, without saving",
      tag: "trackers",
      // It sends the credential to whatever registry the input names.
      access: "full",
      body: PreviewInput,
      answer: { status: 200, description: "The names with each channel's verdict", schema: PreviewView },
      refusals: { 424: "`upstream_failed`: upstream could not be asked, in its own words" },
      perform: ({ body }) => services.trackers.preview(body),
    },
  ];
}
