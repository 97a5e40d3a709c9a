import { AsyncLocalStorage } from "node:async_hooks";
import { AppError } from "./errors.ts";
import { say } from "./messages/message.ts";

/**
 * Search steps that are free on any machine: a step is one instruction of a pattern on one character. Fifty thousand names of ordinary
 * length need fewer for an ordinary pattern.
 */
const freeSteps = 20_000_000;
/** How long one piece of work may search beyond them. */
const maxSearchMs = 1_000;

interface Spent {
  steps: number;
  ms: number;
  /** Milliseconds by pattern, to name the most expensive one. */
  patterns: Map<string, number>;
}

const spending = new AsyncLocalStorage<Spent>();

/** 422: a pattern that takes longer over all its texts than one piece of work may. */
export class TooCostly extends AppError {
  readonly pattern: string;

  constructor(pattern: string, fields?: AppError["field_messages"]) {
    super("too_costly", 422, say("fields.pattern_too_slow", { pattern }), { fields });
    this.pattern = pattern;
  }
}

/**
 * One piece of work, such as a request or a queue item, with its own budget for all searches by external patterns. A single search has
 * its own bound; this bounds ten thousand of them.
 */
export function withinWorkBudget<T>(work: () => T): T {
  return spending.run({ steps: 0, ms: 0, patterns: new Map() }, work);
}

/** Books one search, or one parsing of a pattern. Throws `TooCostly` when the budget is spent; does nothing outside of one. */
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
