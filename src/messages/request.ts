import type { Area, Message } from "./types.ts";

/** Faults of requests by browsers and programs, whatever they ask for. */
export const request = {
  input_errors: "The input has errors",
  sign_in_first: "Sign in first",
  change_password_first: "Change the one-time password first",
  internal_error: "Internal error; the log has details under the request ID",
  stopping: "Tidemark is stopping and has changed nothing; try again in a moment",
  name_taken: ({ what, name }: { what: Message; name: string }, tell) =>
    `Another ${tell(what)} is already named "${name}"`,
  in_use: ({ what, name, users }: { what: Message; name: string; users: readonly Message[] }, tell) =>
    `The ${tell(what)} "${name}" is used by ${users.map(tell).join(", ")}`,
  named: ({ what, name }: { what: Message; name: string }, tell) => `${tell(what)} "${name}"`,
  not_found: ({ what, id }: { what: Message; id: string }, tell) => `There is no ${tell(what)} "${id}"`,
  type_to_confirm: ({ name }: { name: string }) => `Type ${name} to confirm`,
  unusable_host: "The request has no usable host; send a Host header",
  body_too_large: ({ mib }: { mib: number }) => `The body is larger than ${mib} MiB`,
  body_not_form: "The body is not a form",
  body_not_declared_form: "The body is not a form of the declared content type",
  body_not_declared_json: 'Send the body as JSON with "content-type: application/json"',
  body_not_utf8: "The body is not UTF-8",
  body_not_json: "The body is not JSON",
  body_too_deep: ({ levels }: { levels: number }) => `The body is nested deeper than ${levels} levels`,
  query_repeated: ({ name, count }: { name: string; count: number }) => `Send "${name}" once, not ${count} times`,
  scope_too_small: 'This token has the scope "read"; this operation needs "full"',
  too_many_fields: ({ limit }: { limit: number }) => `The form has more than ${limit} fields`,
  foreign_origin: "The request does not come from a page of this address; open Tidemark at its base URL and try again",
  form_outdated: "The form is out of date; reload the page and send it again",
  changed_meanwhile:
    "Other values have been stored since you opened this form. To see them, open it in another tab; to replace them, save again",
  method_unknown: ({ method }: { method: string }) => `The method "${method}" is not supported`,
  method_not_allowed: ({ allowed, method }: { allowed: readonly string[]; method: string }) =>
    `This path accepts ${allowed.join(", ")}, not ${method}`,
  too_many_sign_ins: "Too many sign-ins with the identity provider; try again in a moment",
  idempotency_key_invalid: "Send one Idempotency-Key of 1 to 255 visible ASCII characters",
  idempotency_in_progress: "A request with this Idempotency-Key is in progress; send it again later for its response",
  idempotency_reused: "This Idempotency-Key was sent with another request; use a new key for each request",
  idempotency_answer_lost:
    "The request with this Idempotency-Key was carried out, but its response is no longer available; check the current state",
} satisfies Area;
