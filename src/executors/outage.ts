import * as v from "valibot";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import { MessageSchema, withSaid } from "../messages/schema.ts";

/** From the end of one try to the next: doubled each time, up to the longest. */
const firstPauseMs = 5_000;
export const longestTryPauseMs = 5 * 60_000;
/** When this is over one last try is made. */
const limitMs = 24 * 60 * 60 * 1000;

/** What runs at the end: the desired version, the previous one, some services of each, none of them, or nobody could look. */
export const servings = ["desired", "previous", "mixed", "none", "unknown"] as const;
export type Serving = (typeof servings)[number];

/**
 * How an outage ended: the target runs again; somebody changed what the run left; a later run of the executor went to work; the
 * executor or its connection was disabled; a day of tries was over.
 */
export const outageEnds = ["recovered", "changed", "replaced", "disabled", "given_up"] as const;
export type OutageEnd = (typeof outageEnds)[number];

/** Of a run that failed and left its target down, which is tried to be brought up since. */
export const OutageView = v.object({
  since: Instant,
  /** So many tries have ended. */
  tries: v.number(),
  /** Null once the outage is over. */
  next_try_at: NullableInstant,
  outcome: v.nullable(v.picklist(outageEnds)),
  /** Why the last try failed, or what is to be said of the end. */
  detail: v.nullable(v.string()),
  detail_data: v.nullable(MessageSchema),
  /** What runs since the target recovered. */
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
     * `back`: the containers that ran before the run, or what can be made to run in their places, are brought up. `again`: nothing ran
     * before a rollback, so it is performed again.
     */
    way: v.picklist(["back", "again"]),
    tries: v.number(),
    /** What the run, or the last try, left: it must stand like that before anything is touched. Null where nobody could look. */
    left: v.nullable(v.record(v.string(), v.unknown())),
    outcome: v.nullable(v.picklist(outageEnds)),
    /** Why the last try failed, or what is to be said of the end. */
    detail: v.nullable(v.string()),
    detail_data: v.nullable(MessageSchema),
    /** What runs since the target recovered. */
    serving: v.nullable(v.picklist(servings)),
    ended_at: v.nullable(v.number()),
  }),
);
export type StoredOutage = v.InferOutput<typeof StoredOutage>;

/** What is read again of the outage that is kept with its run; null for a run that left nothing down. */
export function storedOutage(column: unknown): StoredOutage | null {
  const parsed = v.safeParse(StoredOutage, column);
  return parsed.success ? parsed.output : null;
}

/** As it is shown. */
export function outageView(run: { outage: unknown; outage_due_at: number | null }): OutageView | null {
  const outage = storedOutage(run.outage);
  if (outage === null) return null;
  const { since, tries, outcome, detail, detail_data, serving, ended_at } = outage;
  return { since, tries, next_try_at: run.outage_due_at, outcome, detail, detail_data, serving, ended_at };
}

/** What runs as far as the run knows: at its end, or since its target recovered. */
export function servingNow<S extends string | null>(run: {
  serving: S;
  outage: Pick<OutageView, "outcome" | "serving"> | null;
}): S | Serving | null {
  return run.outage?.outcome === "recovered" ? run.outage.serving : run.serving;
}

/** When the next try comes; null when the day is over by the earlier of the clock and the counted time. */
export function nextTryAt(
  run: { ended_at: number | null },
  tries: number,
  { now, counted }: { now: number; counted: number },
): number | null {
  if (tries > 0 && counted - (run.ended_at ?? counted) >= limitMs) return null;
  return now + Math.min(longestTryPauseMs, firstPauseMs * 2 ** Math.min(tries, 20));
}
