import { AppError } from "../errors.ts";
import { type Message, told } from "../messages/message.ts";
import type { Problem } from "../messages/schema.ts";

/** A stored secret, or why it cannot be used and what to do about it. */
export type Opened<T> =
  | { readonly value: T; readonly problem: null }
  | { readonly value: null; readonly problem: Message };

/** `open` is a sealer's; `problem` makes the whole sentence of why its secret cannot be read. The sealed text stays as it is. */
export function opened<T>(open: () => T, problem = (cause: Message): Message => cause): Opened<T> {
  try {
    return { value: open(), problem: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "undecryptable") throw error;
    return { value: null, problem: problem(error.said) };
  }
}

/** For the view of what has the secret. */
export function secretProblem({ problem }: Opened<unknown>): Problem | null {
  return problem === null ? null : { code: "secret_unreadable", ...told(problem) };
}
