import * as v from "valibot";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import { MessageSchema, withSaid } from "../messages/schema.ts";

/** The pause between two attempts: doubled each time, up to the longest. */
const firstPauseMs = 5_000;
export const longestTryPauseMs = 5 * 60_000;
/** After this, one last attempt is made. */
const limitMs = 24 * 60 * 60 * 1000;

/** What runs at the end: the desired version, the previous one, some services of each, none, or unknown. */
export const servings = ["desired", "previous", "mixed", "none", "unknown"] as const;
export type Serving = (typeof servings)[number];

/**
 * How an outage ended: the target runs again; what the run left was changed externally; a later run of the executor went to work; the
 * executor or its connection was disabled; a day of attempts was over.
 */
const outageEnds = ["recovered", "changed", "replaced", "disabled", "given_up"] as const;
export type OutageEnd = (typeof outageEnds)[number];

/** A failed run left its target down; attempts to bring it up follow. */
export const OutageView = v.object({
  since: Instant,
  /** Attempts that have ended. */
  tries: v.number(),
  /** Null once the outage is over. */
  next_try_at: NullableInstant,
  outcome: v.nullable(v.picklist(outageEnds)),
  /** Why the last attempt failed, or a remark on the end. */
  detail: v.nullable(v.string()),
  detail_data: v.nullable(MessageSchema),
  /** What has run since the target recovered. */
  serving: v.nullable(v.picklist(servings)),
  ended_at: NullableInstant,
});
export type OutageView = v.InferOutput<typeof OutageView>;

const StoredOutage = withSaid(
  "detail",
  v.object({
    /** When the target went down, as far as the run knows. */
    since: v.number(),
    /**
     * `back`: start the containers that ran before the run, or what can run in their place. `again`: nothing ran before a rollback, so it
     * is repeated.
     */
    way: v.picklist(["back", "again"]),
    tries: v.number(),
    /** What the run or the last attempt left; nothing is touched unless it is still so. Null if it could not be inspected. */
    left: v.nullable(v.record(v.string(), v.unknown())),
    outcome: v.nullable(v.picklist(outageEnds)),
    /** Why the last attempt failed, or a remark on the end. */
    detail: v.nullable(v.string()),
    detail_data: v.nullable(MessageSchema),
    /** What has run since the target recovered. */
    serving: v.nullable(v.picklist(servings)),
    ended_at: v.nullable(v.number()),
  }),
);
export type StoredOutage = v.InferOutput<typeof StoredOutage>;

/** The outage stored with a run; null if the run left nothing down. */
export function storedOutage(column: unknown): StoredOutage | null {
  const parsed = v.safeParse(StoredOutage, column);
  return parsed.success ? parsed.output : null;
}

export function outageView(run: { outage: unknown; outage_due_at: number | null }): OutageView | null {
  const outage = storedOutage(run.outage);
  if (outage === null) return null;
  const { since, tries, outcome, detail, detail_data, serving, ended_at } = outage;
  return { since, tries, next_try_at: run.outage_due_at, outcome, detail, detail_data, serving, ended_at };
}

/** What runs, as far as the run knows: at its end, or since its target recovered. */
export function servingNow<S extends string | null>(run: {
  serving: S;
  outage: Pick<OutageView, "outcome" | "serving"> | null;
}): S | Serving | null {
  return run.outage?.outcome === "recovered" ? run.outage.serving : run.serving;
}

/** When the next attempt is due; null once the day is over by both the clock and counted time. */
export function nextTryAt(
  run: { ended_at: number | null },
  tries: number,
  { now, counted }: { now: number; counted: number },
): number | null {
  if (tries > 0 && counted - (run.ended_at ?? counted) >= limitMs) return null;
  return now + Math.min(longestTryPauseMs, firstPauseMs * 2 ** Math.min(tries, 20));
}
