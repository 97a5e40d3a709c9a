import type { Services } from "../../services.ts";
import { StatsView } from "../../stats/schema.ts";
import { type Route, routesOf } from "./route.ts";

export function statsRoutes({ stats }: Pick<Services, "stats">): readonly Route[] {
  const route = routesOf("stats");
  return [
    route("GET", "/stats", {
      operation_id: "get_stats",
      summary: "Get what needs attention, what is in progress, and statistics of the last 30 days",
      answer: { status: 200, description: "The state of the whole installation", schema: StatsView },
      perform: () => stats.get(),
    }),
  ];
}
