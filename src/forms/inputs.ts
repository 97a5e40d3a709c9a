import * as v from "valibot";

// The inputs that every resource has, with the same words and bounds everywhere.

/** A display name: 1 to 100 characters, no control characters, no blanks around it. */
export const Name = v.pipe(
  v.string("Write a text"),
  v.trim(),
  v.minLength(1, "Write a name"),
  v.maxLength(100, "Use at most 100 characters"),
  v.regex(/^\P{Cc}*$/u, "Use no control characters"),
  v.title("Name"),
);

export const Description = v.optional(
  v.pipe(
    v.string("Write a text"),
    v.maxLength(1000, "Use at most 1000 characters"),
    v.title("Description"),
    v.metadata({ multiline: true }),
  ),
  "",
);

/** An instant as it leaves the API: milliseconds inside, `2026-11-21T03:12:09.100Z` on the wire. */
export const Instant = v.pipe(v.number(), v.metadata({ instant: true }));
export const NullableInstant = v.nullable(Instant);
