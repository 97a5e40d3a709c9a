import { ImportInput, ProposalsView } from "../../trackers/import/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";
import type { Route } from "./route.ts";

export function trackerProposalRoutes(services: { trackers: TrackerService }): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/tracker-proposals",
      operation_id: "propose_trackers",
      summary: "Propose trackers from a compose file, a list of images or another tool's configuration",
      tag: "trackers",
      access: "read",
      body: ImportInput,
      answer: {
        status: 200,
        description: "What `POST /api/trackers` would take, one by one; nothing is created and nobody is asked",
        schema: ProposalsView,
      },
      perform: ({ body }) => services.trackers.proposals(body),
    },
  ];
}
