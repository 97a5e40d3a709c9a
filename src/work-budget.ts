import { AsyncLocalStorage } from "node:async_hooks";
import { AppError } from "./errors.ts";
import { say } from "./messages/message.ts";

/**
 * So many steps of searching are free, however slow the machine is: a step is one instruction of a pattern on one character. Fifty
 * thousand names of ordinary length meet an ordinary pattern for less.
 */
const freeSteps = 20_000_000;
/** Beyond them, so long one piece of work may search in all. */
const maxSearchMs = 1_000;

interface Spent {
  steps: number;
  ms: number;
  /** Milliseconds by pattern, to name the one that cost the most. */
  patterns: Map<string, number>;
}

const spending = new AsyncLocalStorage<Spent>();

/** 422: a pattern that costs more, on all that it is to be tried on, than one piece of work may spend. */
export class TooCostly extends AppError {
  readonly pattern: string;

  constructor(pattern: string, fields?: AppError["field_messages"]) {
    super("too_costly", 422, say("fields.pattern_too_slow", { pattern }), { fields });
    this.pattern = pattern;
  }
}

/**
 * One piece of work, a request or an item of a queue, with a budget of its own for everything that it searches by patterns from
 * outside. A single search is bounded by itself; ten thousand of them are what this bounds.
 */
export function withinWorkBudget<T>(work: () => T): T {
  return spending.run({ steps: 0, ms: 0, patterns: new Map() }, work);
}

/** Books one search, or one reading of a pattern. Throws `TooCostly` when the work has spent its budget; outside of any, nothing. */
export function spend(pattern: string, steps: number, ms: number): void {
  const spent = spending.getStore();
  if (spent === undefined) return;
  spent.steps += steps;
  spent.ms += ms;
  spent.patterns.set(pattern, (spent.patterns.get(pattern) ?? 0) + ms);
  if (spent.steps <= freeSteps || spent.ms <= maxSearchMs) return;
  const [[dearest] = [pattern]] = [...spent.patterns].toSorted(([, one], [, other]) => other - one);
  throw new TooCostly(dearest);
}
