import type { Area } from "./types.ts";

/** What a field should have held, at that field. */
export const fields = {
  text_wanted: "Enter text",
  number_wanted: "Enter a number",
  boolean_wanted: "Enter true or false",
  list_wanted: "Enter a list",
  object_wanted: "Enter an object with its fields",
  number_or_text_wanted: "Enter a number or text",
  one_of: ({ options }: { options: readonly string[] }) => `Choose one of ${options.join(", ")}`,
  unusable: "This value cannot be used here",
  unknown_field: "There is no such field",
  required: "This field is required",
  broken_text: "The text contains half of a character; enter it again",
} satisfies Area;
