import * as v from "valibot";
import { type FieldErrors, invalidInput } from "../errors.ts";

/** Deepest nesting that a JSON body may have. */
export const maxInputDepth = 32;

function fieldPath(issue: v.BaseIssue<unknown>): string {
  return issue.path?.map((item) => String(item.key)).join(".") ?? "";
}

function sentence(issue: v.BaseIssue<unknown>): string {
  if (issue.type === "strict_object" && issue.expected === "never") return "There is no such field";
  if (issue.type === "strict_object" && issue.expected === "Object") return "Write an object with its fields";
  if (issue.type === "strict_object" || (issue.kind === "schema" && issue.input === undefined)) {
    return "This field is required";
  }
  return issue.message;
}

/** Parses the input of a service; every refused field is named with what would be right. */
export function parseInput<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw invalidInput(fieldErrors(result.issues));
}

/** What each refused field should have been: the first thing that is wrong with it. */
export function fieldErrors(issues: readonly v.BaseIssue<unknown>[]): FieldErrors {
  // Without a prototype: a body may name a field `__proto__`.
  const found: Record<string, string> = Object.create(null);
  for (const issue of issues) {
    const path = fieldPath(issue) || "body";
    found[path] ??= sentence(issue);
  }
  return found;
}
