import type * as v from "valibot";

/** What is wrong with one field, found where several were read together: as `addIssue` of a schema takes it. */
export function fieldIssue<T extends Record<string, unknown>>(
  input: T,
  { field, message }: { field: keyof T & string; message: string },
): { message: string; path: [v.ObjectPathItem] } {
  return { message, path: [{ type: "object", origin: "value", input, key: field, value: input[field] }] };
}
