import * as v from "valibot";
import { parseInstant } from "../clock.ts";
import { issue } from "../messages/message.ts";

// Inputs shared by all resources, with the same words and bounds everywhere.

/** A display name: 1 to 100 characters, no control characters, trimmed. */
export const Name = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1),
  v.maxLength(100),
  v.regex(/^\P{Cc}*$/u, issue("fields.control_characters")),
  v.title("Name"),
);

export const Description = v.optional(
  v.pipe(v.string(), v.maxLength(1000), v.title("Description"), v.metadata({ multiline: true, advanced: true })),
  "",
);

/** An instant in the API: milliseconds inside, `2026-11-21T03:12:09.100Z` on the wire. */
export const Instant = v.pipe(v.number(), v.metadata({ instant: true }));
export const NullableInstant = v.nullable(Instant);

/** An instant as somebody enters it, in ISO form with its zone. */
export const InstantText = v.pipe(
  v.string(),
  v.maxLength(40),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/, issue("fields.instant")),
  v.check((text) => parseInstant(text) !== null, issue("fields.instant")),
);
