import { formatNumber } from "../../format.ts";

const number = (value: number) => formatNumber("en", value);

export const docs = {
  title: "API documentation",
  lead: "Programs can do everything that the pages can.",
  resources: "Resources",
  all_resources: "All resources",
  openapi: "OpenAPI document",
  sign_in: "Sign in",
  authentication: "Authentication",
  authentication_text:
    "Send a token in the header “Authorization: Bearer …”. Add an API token under User settings, or get a session token from POST /api/session.",
  token_example: "Sign in and keep the token",
  errors: "Errors",
  errors_text:
    "All errors have this form. “code” is stable, “message” is for people, and “fields” lists each invalid field by its path. The log contains the request ID.",
  lists: "Lists",
  lists_text:
    "A list returns “items” and “next_cursor”. Send the cursor back as “cursor” to get the next page; it is null on the last one.",
  times: "Times",
  times_text:
    "Times are UTC, in ISO 8601 with milliseconds. Names are in snake_case. Unknown fields in a body are refused.",
  no_sign_in: "No sign-in needed",
  parameters: "Parameters",
  body: "Body",
  answer: "Response",
  no_content: "No content",
  refusals: "Errors",
  required: "required",
  write_only: "never returned",
  in_path: "in the path",
  in_query: "in the query",
  always: "always",
  one_of: "one of",
  variants: "One of these forms",
  characters: (min: number | null, max: number | null) =>
    min === null || min <= 1
      ? `at most ${number(max ?? 0)} characters`
      : max === null
        ? `at least ${number(min)} characters`
        : `${number(min)} to ${number(max)} characters`,
  at_least_one_character: "not blank",
  range: (min: number | null, max: number | null) =>
    max === null
      ? `at least ${number(min ?? 0)}`
      : min === null
        ? `at most ${number(max)}`
        : `${number(min)} to ${number(max)}`,
  items: (min: number | null, max: number | null) =>
    max === null
      ? `at least ${number(min ?? 0)} entries`
      : min === null
        ? `at most ${number(max)} entries`
        : `${number(min)} to ${number(max)} entries`,
  default_value: "default",
};
