import * as v from "valibot";
import type { Parts } from "../../parts.ts";
import {
  deleteRatesBefore,
  findResponse,
  pruneResponses,
  storedRates,
  storeRate,
  storeResponse,
  touchResponse,
} from "./response-queries.ts";

const dayMs = 86_400_000;
/** Responses unused for this long are deleted. */
const unusedDays = 30;
const maxAnswers = 5_000;
const maxAnswerBytes = 256 * 1024 * 1024;
const maxRates = 2_000;

/** An upstream's response with the validators for the next request. */
export interface Answer {
  etag: string | null;
  last_modified: string | null;
  content_type: string | null;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Responses in the database, so that validators survive a restart; bounded in number, bytes and age. */
export function answerStore({ db, clock, counted }: Pick<Parts, "db" | "clock" | "counted">) {
  return {
    find: async (key: string): Promise<Answer | null> => {
      const row = await findResponse(db.read, key);
      if (row === null) return null;
      const { used_at, etag, last_modified, content_type, headers, body } = row;
      const now = clock.now();
      // Once a day is enough to know what is in use; a write would be most of the cost of a request.
      if (Math.abs(now - used_at) > dayMs) await db.write((tx) => touchResponse(tx, key, now));
      return { etag, last_modified, content_type, headers, body };
    },
    store: async (key: string, answer: Answer): Promise<void> => {
      const { etag, last_modified, content_type, headers, body } = answer;
      const now = clock.now();
      const size_bytes = Buffer.byteLength(body);
      await db.write(async (tx) => {
        await storeResponse(tx, { key, etag, last_modified, content_type, headers, body, size_bytes, used_at: now });
        const usedSince = counted.before(unusedDays * dayMs);
        await pruneResponses(tx, { usedSince, rows: maxAnswers, bytes: maxAnswerBytes });
      });
    },
  };
}

const RateState = v.object({
  host: v.string(),
  credential_id: v.nullable(v.string()),
  limit: v.nullable(v.number()),
  remaining: v.nullable(v.number()),
  reset_at: v.nullable(v.number()),
  blocked_until: v.nullable(v.number()),
  strikes: v.number(),
  observed_at: v.number(),
});
export type RateState = v.InferOutput<typeof RateState>;

/** The rate ledger in the database: it survives a restart. */
export function rateStore({ db, clock, counted }: Pick<Parts, "db" | "clock" | "counted">) {
  return {
    load: async (): Promise<readonly RateState[]> => {
      const rows = await storedRates(db.read, maxRates);
      return rows.flatMap((row) => {
        const parsed = v.safeParse(RateState, row.state);
        return parsed.success ? [parsed.output] : [];
      });
    },
    save: async (state: RateState): Promise<void> => {
      const now = clock.now();
      await db.write(async (tx) => {
        const key = `${state.host} ${state.credential_id ?? "-"}`;
        await storeRate(tx, { key, state: { ...state }, updated_at: now });
        await deleteRatesBefore(tx, counted.before(unusedDays * dayMs));
      });
    },
  };
}
