import type * as v from "valibot";
import { SaidError } from "../errors.ts";
import { type Message, toText } from "../messages/message.ts";

/** What was entered cannot be an address; `field` is the one that has to change. */
export class AddressError extends SaidError {
  readonly field: string;

  constructor(field: string, said: Message, cause?: unknown) {
    super(said, cause);
    this.name = "AddressError";
    this.field = field;
  }
}

/** What is wrong with one field, found where several were read together: as `addIssue` of a schema takes it. Throws any other error. */
export function fieldIssue<T extends Record<string, unknown>>(
  input: T,
  error: unknown,
): { message: string; path: [v.ObjectPathItem] } {
  if (!(error instanceof AddressError)) throw error;
  const { field: key, said } = error;
  return { message: toText(said), path: [{ type: "object", origin: "value", input, key, value: input[key] }] };
}
