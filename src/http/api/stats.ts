import { StatsView } from "../../stats/schema.ts";
import type { StatsService } from "../../stats/service.ts";
import type { Route } from "./route.ts";

export function statsRoutes(services: { stats: StatsService }): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/stats",
      operation_id: "get_stats",
      summary: "Read what needs somebody, what goes on, and the last 30 days in numbers",
      tag: "stats",
      access: "read",
      answer: { status: 200, description: "The state of the whole installation", schema: StatsView },
      perform: () => services.stats.get(),
    },
  ];
}
