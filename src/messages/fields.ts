import type { Area } from "./types.ts";

type Limit = { limit: number };

/** Refused fields, with what would be valid. */
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
  whole_number: "Enter a whole number",
  at_least: ({ limit }: Limit) => `Enter ${limit} or more`,
  at_most: ({ limit }: Limit) => `Enter ${limit} or less`,
  at_least_characters: ({ limit }: Limit) => `Use at least ${limit} characters`,
  at_most_characters: ({ limit }: Limit) => `Use at most ${limit} characters`,
  at_least_entries: ({ limit }: Limit) => (limit === 1 ? "Choose at least one" : `At least ${limit} are required`),
  at_most_entries: ({ limit }: Limit) => `At most ${limit} are allowed`,
  time_of_day: 'Enter the time as "HH:MM", from 00:00 to 23:59',
  instant: 'Enter a date and time, for example "2026-11-21T03:12:09Z"',
  control_characters: "Control characters are not allowed",
  pattern_too_slow: ({ pattern }: { pattern: string }) =>
    `The pattern "${pattern}" is too slow for the texts it is applied to; use smaller counts than in {250}, or + or *`,
  broken_text: "The text contains an incomplete character; enter it again",
} satisfies Area;
