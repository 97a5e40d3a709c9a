import * as v from "valibot";
import { saidAt } from "./message.ts";
import { isMessage, type Message } from "./types.ts";

/** A sentence as data in an answer of the API, beside the field that has it in English. */
export const MessageSchema = v.pipe(
  v.object({ code: v.string(), params: v.record(v.string(), v.unknown()) }),
  v.check((value) => isMessage(value)),
  v.transform((value) => value as Message),
  v.description("The same message as data: its code and values. A value may be a message itself"),
);

/** Of an object that `toldAs` wrote a sentence into: where it was stored before sentences were data, its text becomes one. */
export function withSaid<E extends v.ObjectEntries>(name: string, schema: v.ObjectSchema<E, undefined>) {
  return v.pipe(
    v.looseObject({}),
    v.transform((value): unknown => ({ ...value, [`${name}_data`]: saidAt(value, name) })),
    schema,
  );
}

/** What is wrong with a resource: a code for programs, and the sentence. */
export const ProblemSchema = withSaid(
  "message",
  v.object({ code: v.string(), message: v.string(), message_data: MessageSchema }),
);
export type Problem = v.InferOutput<typeof ProblemSchema>;
