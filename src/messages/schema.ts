import * as v from "valibot";
import { isMessage, type Message } from "./types.ts";

/** A sentence as data in an answer of the API, beside the field that has it in English. */
export const MessageSchema = v.pipe(
  v.object({ code: v.string(), params: v.record(v.string(), v.unknown()) }),
  v.check((value) => isMessage(value)),
  v.transform((value) => value as Message),
  v.description("The same sentence as data: its code and the values in it. A value may be such a sentence itself"),
);

/** What is wrong with a resource: a code for programs, and the sentence. */
export const ProblemSchema = v.object({ code: v.string(), message: v.string(), message_data: MessageSchema });
export type Problem = v.InferOutput<typeof ProblemSchema>;
