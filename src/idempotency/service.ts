import { createHash } from "node:crypto";
import * as v from "valibot";
import type { AuditEvent } from "../auth/audit-schema.ts";
import type { Writer } from "../db/client.ts";
import { AppError, conflict } from "../errors.ts";
import { plain, say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { watchChanges } from "../request-scope.ts";
import { opened } from "../secrets/opened.ts";
import type { Sealer } from "../secrets/sealed.ts";
import { deleteExpiredOutcomes, deleteSurplusOutcomes, findOutcome, insertOutcome, updateOutcome } from "./queries.ts";

export type IdempotencyService = ReturnType<typeof idempotencyService>;

/** How long a key is remembered. */
const keptMs = 24 * 3_600_000;
const keptKeys = 10_000;
// Pruning runs in the transaction of the creation and must not slow it down.
const prunedAtOnce = 100;
/** A longer response is made again from stored data. */
const maxAnswerLength = 64 * 1024;
const retryAfterSeconds = 1;

const Subject = v.object({ kind: v.string(), id: v.string(), name: v.string() });
const Outcome = v.object({
  /** Hash of the request. The request can hold a password, so the hash is sealed too. */
  request: v.string(),
  subject: v.nullable(Subject),
  answer: v.nullable(v.object({ status: v.number(), body: v.string() })),
});

export type Subject = v.InferOutput<typeof Subject>;

export interface StoredAnswer {
  status: number;
  /** JSON. */
  body: string;
}

interface Attempt {
  administrator_id: string;
  key: string;
  /** Everything that makes two requests equal. */
  request: readonly string[];
  /** The audit events that prove that it is done. */
  events: readonly AuditEvent[];
  perform(): Promise<StoredAnswer>;
  /** The response from stored data, when the process ended before there was a first one; null when there is none. */
  again: ((subject: Subject) => Promise<StoredAnswer>) | null;
}

const hash = (parts: readonly string[]) => createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

function inProgress(): AppError {
  return conflict(say("request.idempotency_in_progress"), {
    retry_after_seconds: retryAfterSeconds,
  });
}

function requireSame(known: string, request: string): void {
  if (known === request) return;
  throw new AppError("idempotency_key_reused", 422, say("request.idempotency_reused"));
}

/**
 * Creations that happen once, however often they are sent with one `Idempotency-Key` within a day. A refused request leaves the key free.
 */
export function idempotencyService(options: Pick<Parts, "db" | "clock" | "counted" | "log"> & { sealer: Sealer }) {
  const { db, clock, counted, log, sealer } = options;
  /** The requests in progress of this process, by key. */
  const running = new Map<string, string>();
  const removeExpired = (tx: Writer, limit: number) => deleteExpiredOutcomes(tx, counted.before(keptMs), limit);
  const since = () => counted.now() - keptMs;
  const seal = (outcome: v.InferOutput<typeof Outcome>) => sealer.sealJson(outcome);

  const answerAgain = async (subject: Subject | null, again: Attempt["again"]): Promise<StoredAnswer> => {
    if (again !== null && subject !== null) return await again(subject);
    throw new AppError(
      "already_done",
      409,
      say("request.idempotency_answer_lost"),
      subject === null ? {} : { fields: { [`${subject.kind}_id`]: plain(subject.id) } },
    );
  };

  return {
    /** Forgets every expired key. */
    removeExpired: (tx: Writer): Promise<void> => removeExpired(tx, keptKeys),

    /**
     * 1. Refuse the key while it is in use, or was used for another request. 2. Repeat the first response if it is done. 3. Otherwise
     * perform it; the key is stored in the same transaction, or not at all. 4. Store the response beside it.
     */
    once: async (attempt: Attempt): Promise<StoredAnswer & { is_replayed: boolean }> => {
      const keyHash = hash([attempt.administrator_id, attempt.key]);
      const request = hash(attempt.request);
      const other = running.get(keyHash);
      if (other !== undefined) {
        requireSame(other, request);
        throw inProgress();
      }
      running.set(keyHash, request);
      try {
        const stored = await findOutcome(db.read, keyHash, since());
        if (stored !== null) {
          const { value: outcome } = opened(() => sealer.openJson(Outcome, stored, () => []));
          // One that cannot be read any more says only that it is done.
          if (outcome !== null) requireSame(outcome.request, request);
          const answer = outcome?.answer ?? (await answerAgain(outcome?.subject ?? null, attempt.again));
          return { ...answer, is_replayed: true };
        }
        let done: { subject: Subject | null } | null = null;
        watchChanges(async (tx, record) => {
          // Of several changes the first one counts; a repetition does what is left of the others.
          if (done !== null || record.outcome !== "ok" || !attempt.events.some((event) => event === record.event))
            return;
          // Another process on the same database was faster.
          if ((await findOutcome(tx, keyHash, since())) !== null) throw inProgress();
          done = { subject: record.subject ?? null };
          await removeExpired(tx, prunedAtOnce);
          await deleteSurplusOutcomes(tx, keptKeys - 1, prunedAtOnce);
          const sealed = seal({ request, ...done, answer: null });
          await insertOutcome(tx, { key_hash: keyHash, sealed_outcome: sealed, created_at: clock.now() });
        });
        const answer = await attempt.perform();
        await keepAnswer(keyHash, request, done, answer);
        return { ...answer, is_replayed: false };
      } finally {
        running.delete(keyHash);
      }
    },
  };

  async function keepAnswer(
    keyHash: string,
    request: string,
    done: { subject: Subject | null } | null,
    answer: StoredAnswer,
  ): Promise<void> {
    if (done === null || answer.body.length > maxAnswerLength) return;
    const sealed = seal({ request, ...done, answer });
    try {
      await db.write((tx) => updateOutcome(tx, keyHash, sealed));
    } catch (error) {
      // It is done and answered; a repetition gets a response from stored data.
      log.warning("The response to a request with an Idempotency-Key could not be stored", { error });
    }
  }
}
