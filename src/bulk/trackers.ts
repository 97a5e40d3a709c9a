import type { Actor } from "../auth/schema.ts";
import { parseInput } from "../forms/issues.ts";
import type { Log } from "../log.ts";
import { type TrackerView, whyKept } from "../trackers/schema.ts";
import type { TrackerService } from "../trackers/service.ts";
import { type Done, eachByItself, enabledOnce } from "./each.ts";
import { type BulkOutcome, type TrackerBulkAction, TrackerBulkInput, type TrackerReview } from "./schema.ts";

interface TrackerBulkOptions {
  log: Log;
  trackers: Pick<TrackerService, "byIds" | "requestCheck" | "update" | "remove">;
}

/** The same action on several trackers. */
export function trackerBulkService({ log, trackers }: TrackerBulkOptions) {
  const each = eachByItself("tracker", log);

  const act = async (actor: Actor, action: TrackerBulkAction, tracker: TrackerView): Promise<Done> => {
    const { name } = tracker;
    switch (action) {
      case "check":
        await trackers.requestCheck(actor, name);
        return { outcome: "done" };
      case "enable":
      case "disable":
        return await enabledOnce(tracker, action === "enable", (changes) => trackers.update(actor, name, changes));
      case "delete":
        await trackers.remove(actor, name);
        return { outcome: "done" };
    }
  };

  return {
    /** Which of the existing ones can be deleted, and why the others cannot. */
    review: async (ids: readonly string[]): Promise<readonly TrackerReview[]> =>
      (await trackers.byIds(ids)).map((tracker) => {
        const why = whyKept(tracker.name, tracker.executors);
        return { tracker, problem: why === null ? null : each.problemOf(why, tracker.name) };
      }),

    /** Each tracker separately; a repeated request does only what is left. */
    perform: async (actor: Actor, input: unknown): Promise<BulkOutcome<TrackerBulkAction>> => {
      const { action, trackers: named } = parseInput(TrackerBulkInput, input);
      const ids = [...new Set(named.map(({ id }) => id))];
      const views = await trackers.byIds(ids);
      const done = await each.perform(views, (tracker) => act(actor, action, tracker));
      return { action, results: each.results(ids, views, done) };
    },
  };
}
