import type { Area } from "./types.ts";

type Bound = { characters: number; limit: number };

const restore =
  "Stop the service, restore the database from a backup that you trust, then start again; Tidemark creates no new administrator";

/** Signing in, the administrator's account, passwords and API tokens. */
export const auth = {
  wrong_credentials: "The user name or password is wrong",
  wrong_password: "The password is wrong",
  too_many_attempts: ({ seconds }: { seconds: number }) => `Too many failed attempts; try again in ${seconds} s`,
  too_many_checks: "Too many passwords are being checked; try again in a moment",
  session_required: "An API token cannot change the account or its tokens; sign in with the password",
  too_many_tokens: ({ limit }: { limit: number }) => `There are ${limit} API tokens, the maximum; revoke one first`,
  username_form: "Start with a letter or digit; letters, digits and . _ @ + - may follow",

  password_unchanged: "The new password is the same as the old one; choose another",
  password_changed_meanwhile: "The password was changed in the meantime; sign in again",
  password_too_many_bytes: ({ limit }: { limit: number }) => `The password has more than ${limit} bytes, the maximum`,
  password_broken: "The password contains a damaged character; type it again",
  password_byte_order_mark:
    "The password contains a byte order mark, which is invisible; type it, or save the file without one",
  password_too_short: ({ characters, limit }: Bound) =>
    `The password has ${characters} characters; it must have at least ${limit}`,
  password_too_long: ({ characters, limit }: Bound) =>
    `The password has ${characters} characters; it must have at most ${limit}`,
  password_guessable: "This password is easy to guess; choose another",

  administrator_doubled: `The database has more than one administrator record. ${restore}`,
  administrator_missing: `The administrator record is missing from the database. ${restore}`,
  administrator_other: ({ id, stored }: { id: string; stored: string | null }) =>
    `The administrator record has the ID ${id}, but the stored administrator identity is ${stored ?? "missing"}. ${restore}`,
  administrator_not_created: "There is no administrator yet: start Tidemark once; it creates one and logs its password",
} satisfies Area;
