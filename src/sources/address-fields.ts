import * as v from "valibot";
import { SaidError } from "../errors.ts";
import { type Message, toText } from "../messages/message.ts";

/** The input is not an address; `field` is the one to change. */
export class AddressError extends SaidError {
  readonly field: string;

  constructor(field: string, said: Message, cause?: unknown) {
    super(said, cause);
    this.field = field;
  }
}

interface AddressTexts {
  title: string;
  description: string;
  max: number;
  metadata: { placeholder: string; advanced?: true };
}

/** A field for an address or a name of upstream; `wanted` is the error of a blank one. */
export function requiredAddress(wanted: Message, { title, description, max, metadata }: AddressTexts) {
  return v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty(toText(wanted)),
    v.maxLength(max),
    v.title(title),
    v.description(description),
    v.metadata({ code: true, ...metadata }),
  );
}

export function optionalAddress({ title, description, max, metadata }: AddressTexts) {
  return v.pipe(
    v.optional(v.pipe(v.string(), v.trim(), v.maxLength(max)), ""),
    v.title(title),
    v.description(description),
    v.metadata({ code: true, ...metadata }),
  );
}

type Fields = Record<string, unknown>;

/** An AddressError in the form of a schema's `addIssue`. Throws any other error. */
function fieldIssue<T extends Fields>(input: T, error: unknown): { message: string; path: [v.ObjectPathItem] } {
  if (!(error instanceof AddressError)) throw error;
  const { field: key, said } = error;
  return { message: toText(said), path: [{ type: "object", origin: "value", input, key, value: input[key] }] };
}

/** Reads several fields together after each of them is valid. */
export function readTogether<I extends Fields, O>(read: (fields: I) => O) {
  return v.rawTransform<I, O>(({ dataset, addIssue, NEVER }) => {
    try {
      return read(dataset.value);
    } catch (error) {
      addIssue(fieldIssue(dataset.value, error));
      return NEVER;
    }
  });
}

/** Checks several fields together after each of them is valid. */
export function checkTogether<I extends Fields>(check: (fields: I) => unknown) {
  return v.rawCheck<I>(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.issues !== undefined) return;
    try {
      check(dataset.value);
    } catch (error) {
      addIssue(fieldIssue(dataset.value, error));
    }
  });
}
