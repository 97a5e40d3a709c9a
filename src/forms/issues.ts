import * as v from "valibot";
import { type FieldErrors, invalidInput } from "../errors.ts";
import { fromText, type Message, say, toText } from "../messages/message.ts";

/** Deepest nesting of a JSON body. */
export const maxInputDepth = 32;

function fieldPath(issue: v.BaseIssue<unknown>): string {
  return issue.path?.map((item) => String(item.key)).join(".") ?? "";
}

/** Messages by expectation, for schemas without a message of their own. */
const expectations: Readonly<Record<string, Message>> = {
  string: say("fields.text_wanted"),
  number: say("fields.number_wanted"),
  boolean: say("fields.boolean_wanted"),
  Array: say("fields.list_wanted"),
  Object: say("fields.object_wanted"),
  "number|string": say("fields.number_or_text_wanted"),
};

/** A text, or a list of entries. */
function lengthSentence(input: unknown, type: "min_length" | "max_length", limit: number): Message {
  const isText = typeof input === "string";
  if (type === "max_length") return say(isText ? "fields.at_most_characters" : "fields.at_most_entries", { limit });
  if (isText && limit === 1) return say("fields.required");
  return say(isText ? "fields.at_least_characters" : "fields.at_least_entries", { limit });
}

/** A message for a bound of the schema; null for any other rule. */
function boundSentence({ type, input, requirement }: v.BaseIssue<unknown>): Message | null {
  if (type === "integer") return say("fields.whole_number");
  if (typeof requirement !== "number") return null;
  if (type === "min_length" || type === "max_length") return lengthSentence(input, type, requirement);
  if (type === "min_value") return say("fields.at_least", { limit: requirement });
  return type === "max_value" ? say("fields.at_most", { limit: requirement }) : null;
}

/** Replaces the validator's messages, which speak of types: "Invalid type: Expected …". Schemas only contain special ones. */
function ownSentence(issue: v.BaseIssue<unknown>): Message {
  const { kind, expected } = issue;
  if (kind !== "schema") return boundSentence(issue) ?? say("fields.unusable");
  const parts = expected === null ? [] : expected.replaceAll(/^\(|\)$/g, "").split(" | ");
  const types = parts.filter((part) => part !== "null" && part !== "undefined").toSorted();
  if (types.length > 0 && types.every((type) => type.startsWith('"'))) {
    return say("fields.one_of", { options: types.map((type) => type.slice(1, -1)) });
  }
  return expectations[types.join("|")] ?? say("fields.unusable");
}

function sentence(issue: v.BaseIssue<unknown>): Message {
  if (issue.type === "strict_object" && issue.expected === "never") return say("fields.unknown_field");
  if (issue.type === "strict_object" && issue.expected === "Object") return say("fields.object_wanted");
  if (issue.type === "strict_object" || (issue.kind === "schema" && issue.input === undefined)) {
    return say("fields.required");
  }
  return fromText(issue.message);
}

/** Fields with half a character: a lone surrogate, which JSON can escape but UTF-8 cannot store unchanged. */
function brokenTexts(value: unknown, path = ""): FieldErrors {
  if (typeof value === "string") {
    return value.isWellFormed() ? {} : { [path || "body"]: say("fields.broken_text") };
  }
  if (typeof value !== "object" || value === null) return {};
  const found: Record<string, Message> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    Object.assign(found, key.isWellFormed() ? brokenTexts(item, at) : brokenTexts(key, path));
  }
  return found;
}

/** The output of a schema, or every refused field with what would be valid. */
export function judgeInput<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
): { output: v.InferOutput<S>; errors: null } | { output: null; errors: FieldErrors } {
  const broken = brokenTexts(input);
  if (Object.keys(broken).length > 0) return { output: null, errors: broken };
  const result = v.safeParse(schema, input, { message: (issue) => toText(ownSentence(issue)) });
  return result.success
    ? { output: result.output, errors: null }
    : { output: null, errors: fieldErrors(result.issues) };
}

/** Parses a service's input; every refused field is named with what would be valid. */
export function parseInput<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const { output, errors } = judgeInput(schema, input);
  if (errors !== null) throw invalidInput(errors);
  return output;
}

/** Like `parseInput`, with the caller's own error for the first refused field: for input of plug-ins. */
export function parseOr<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  refused: (field: string, cause: Message) => Error,
): v.InferOutput<S> {
  const { output, errors } = judgeInput(schema, input);
  for (const [field, cause] of Object.entries(errors ?? {})) throw refused(field, cause);
  return output;
}

/** The first problem of each refused field. */
function fieldErrors(issues: readonly v.BaseIssue<unknown>[]): FieldErrors {
  // Without a prototype: a body may name a field `__proto__`.
  const found: Record<string, Message> = Object.create(null);
  for (const issue of issues) {
    const path = fieldPath(issue) || "body";
    found[path] ??= sentence(issue);
  }
  return found;
}
