import * as v from "valibot";
import { NullableInstant } from "../forms/inputs.ts";
import { type Message, say, told } from "../messages/message.ts";
import { type Problem, ProblemSchema } from "../messages/schema.ts";

/** How often a connection is checked. A response to any other request counts as a check. */
export const lookIntervalMs = 20_000;
/** The pause after the first failed check. Failures closer together than this count as one. */
const lookAgainMs = 5_000;
export const lookTimeoutMs = 8_000;
/** After this many failed checks in a row, a connection is unreachable: at the latest 41 s after its runtime ended. */
const missesToLose = 2;
/** When this many checks are overdue, the state is unknown: the process was stopped, or cannot write. */
const overdueMs = 2 * lookIntervalMs;

/** What is stored about the checks of a connection. */
export interface LookFacts {
  is_enabled: boolean;
  seen_at: number | null;
  missed_looks: number;
  missed_since: number | null;
  fault_code: string | null;
  fault: Message | null;
  next_look_at: number | null;
}

type LookChanges = Partial<Omit<LookFacts, "is_enabled">>;

export const ReachView = v.object({
  /** `unknown`: disabled, not checked yet, or not checked recently. */
  state: v.picklist(["reachable", "unreachable", "unknown"]),
  /** When it last responded. */
  seen_at: NullableInstant,
  /** Since when it is unreachable, or not checked. */
  since: NullableInstant,
  /** Why the known state of its targets is out of date; null while it is not. */
  problem: v.nullable(ProblemSchema),
});
export type ReachView = v.InferOutput<typeof ReachView>;

/**
 * Whether what is known about the targets of a connection still holds. The only place that decides it: the API, pages, counts and
 * evaluations ask here.
 */
export function reachOf(facts: LookFacts, now: number): ReachView {
  const { seen_at, missed_looks, missed_since, next_look_at } = facts;
  const current = { seen_at, since: null, problem: null };
  if (!facts.is_enabled) return { state: "unknown", ...current };
  if (next_look_at !== null && now - next_look_at > overdueMs) {
    const problem = { code: "not_checked", ...told(say("connections.not_checked")) };
    return { state: "unknown", seen_at, since: next_look_at, problem };
  }
  if (missed_looks >= missesToLose) {
    const problem = { code: facts.fault_code ?? "unreachable", ...told(facts.fault ?? say("connections.not_checked")) };
    return { state: "unreachable", seen_at, since: missed_since, problem };
  }
  return { state: seen_at === null ? "unknown" : "reachable", ...current };
}

export const connectionStates = ["ok", "failing", "unknown", "disabled"] as const;

interface Check {
  ok: boolean;
  code: string | null;
  message: string;
  message_data: Message;
  checked_at: number;
}

interface Known<C> {
  is_enabled: boolean;
  reach: ReachView;
  last_check: C | null;
}

/** The last test, unless it could not reach the runtime and the runtime has responded since. */
export function validCheck<C extends Check>({ last_check, reach }: Omit<Known<C>, "is_enabled">): C | null {
  const isOver = last_check?.code === "unreachable" && (reach.seen_at ?? 0) > last_check.checked_at;
  return isOver ? null : last_check;
}

/** A connection's state in one word: whether it responds now, else what its last test found. */
export function connectionStateOf(known: Known<Check>): (typeof connectionStates)[number] {
  if (!known.is_enabled) return "disabled";
  const { state, problem } = known.reach;
  if (problem !== null) return state === "unreachable" ? "failing" : "unknown";
  const check = validCheck(known);
  if (check === null) return state === "reachable" ? "ok" : "unknown";
  return check.ok ? "ok" : "failing";
}

/** Why a connection fails, and since when; null if it does not. */
export function failureOf(known: Known<Check>): { since: number | null; error: Problem } | null {
  if (connectionStateOf(known) !== "failing") return null;
  const { since, problem } = known.reach;
  if (problem !== null) return { since, error: problem };
  const check = validCheck(known);
  if (check === null) return null;
  const { code, message, message_data, checked_at } = check;
  return { since: checked_at, error: { code: code ?? "unreachable", message, message_data } };
}

/** Whether a response that arrives now is worth storing: it is a due check, or ends a silence. */
export function isNews({ missed_looks, next_look_at }: LookFacts, now: number): boolean {
  return missed_looks > 0 || next_look_at === null || next_look_at <= now;
}

/** Of a connection that now leads elsewhere. */
export const neverLooked = {
  ...{ seen_at: null, missed_looks: 0, missed_since: null, fault_code: null, fault: null },
  ...{ lease_owner: null, lease_until: null },
} as const;

export function afterAnswer(now: number): LookChanges {
  const next_look_at = now + lookIntervalMs;
  return { seen_at: now, missed_looks: 0, missed_since: null, fault_code: null, fault: null, next_look_at };
}

export function afterMiss(
  { missed_looks, missed_since, next_look_at }: LookFacts,
  fault: { code: string; message: Message },
  now: number,
): LookChanges {
  const isSame = missed_looks === 1 && missed_since !== null && Math.abs(now - missed_since) < lookAgainMs;
  const missed = missed_looks + (isSame ? 0 : 1);
  const next = now + (missed < missesToLose ? lookAgainMs : lookIntervalMs);
  return {
    missed_looks: missed,
    missed_since: missed_since ?? now,
    fault_code: fault.code,
    fault: fault.message,
    next_look_at: next_look_at === null || next_look_at <= now ? next : Math.min(next, next_look_at),
  };
}
