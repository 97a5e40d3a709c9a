import { AppError } from "../errors.ts";
import { type Message, told } from "../messages/message.ts";
import type { Problem } from "../messages/schema.ts";

/** A stored secret, or why it cannot be used and what to do about it. */
export type Opened<T> =
  | { readonly value: T; readonly problem: null }
  | { readonly value: null; readonly problem: Message; readonly code: "secret_unreadable" | "kind_unknown" };

/** `open` is a sealer's; `problem` makes the whole sentence of why its secret cannot be read. The sealed text stays as it is. */
export function opened<T>(open: () => T, problem = (cause: Message): Message => cause): Opened<T> {
  try {
    return { value: open(), problem: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "undecryptable") throw error;
    return { value: null, problem: problem(error.said), code: "secret_unreadable" };
  }
}

/** Of a kind that a later version stored: what its content means is not known here. `problem` says what to do about it. */
export function ofUnknownKind(problem: Message): Opened<never> {
  return { value: null, problem, code: "kind_unknown" };
}

/** The ids of the rows whose secret cannot be used, for a list that filters by that. */
export function unreadableOf<R extends { id: string }>(
  rows: readonly R[],
  open: (row: R) => Opened<unknown>,
): readonly string[] {
  return rows.filter((row) => open(row).problem !== null).map(({ id }) => id);
}

/** For the view of what has the secret. */
export function secretProblem(stored: Opened<unknown>): Problem | null {
  return stored.problem === null ? null : { code: stored.code, ...told(stored.problem) };
}
