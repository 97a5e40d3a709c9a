// The real services with one tracker for each repository. Every message is one round: all sources are made due, and the scheduler
// works them off with its own limits.
import { eq, sql } from "drizzle-orm";
import { tracker_sources } from "../../src/db/tables.ts";
import { answerParent, costOf } from "../child.ts";
import { actor, benchServices } from "../service.ts";
import { repositoryOf } from "./plan.ts";

const { services, db, close } = await benchServices();

async function createTrackers(url: string, sources: number): Promise<void> {
  for (let index = 0; index < sources; index += 1) {
    await services.trackers.create(actor, {
      name: `app-${index}`,
      sources: [
        {
          key: "registry",
          kind: "oci",
          config: { image: repositoryOf(index), registry: url },
          channels: [{ type: "stable", include_pattern: "^[0-9]+\\.[0-9]+\\.[0-9]+$" }],
        },
      ],
    });
  }
}

async function round() {
  await db.write((tx) => tx.update(tracker_sources).set({ next_check_at: 0 }));
  const cost = await costOf(async () => {
    await services.scheduler.tick();
    await services.scheduler.idle();
  });
  const [sum] = await db.read
    .select({
      requests: sql<number>`sum(${tracker_sources.last_request_count})`,
      failed: sql<number>`sum(${tracker_sources.last_error_code} is not null)`,
      waiting: sql<number>`sum(${tracker_sources.next_check_at} = 0)`,
      rotation: sql<number>`min(${tracker_sources.rotation})`,
    })
    .from(tracker_sources);
  return { ...cost, ...sum, rss: process.memoryUsage.rss() };
}

answerParent(async ({ url, sources, act }) => {
  if (act === "create") {
    await createTrackers(String(url), Number(sources));
    await services.scheduler.idle();
    // Those that were checked more often while the others were created would rotate out of step.
    await round();
    await db.write((tx) => tx.update(tracker_sources).set({ rotation: 0 }));
    const unsettled = await db.read.$count(tracker_sources, eq(tracker_sources.upstream_total, 0));
    return { unsettled };
  }
  if (act === "close") {
    await close();
    return {};
  }
  return await round();
});
