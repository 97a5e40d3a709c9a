import type { Area, Message } from "./types.ts";

/** Refused patterns, with what to enter instead. */
export const patterns = {
  too_long: ({ characters, limit }: { characters: number; limit: number }) =>
    `The pattern has ${characters} characters; at most ${limit} are allowed`,
  too_large: "The pattern repeats too much; use smaller counts than in {500}, or + or *",
  lookaround: ({ used }: { used: string }) =>
    `Lookaround (\`${used}\`…) is not supported; move what must be there to the include pattern, and what must not to the exclude pattern`,
  lookaround_as_exclude: ({ exclude }: { exclude: string }) =>
    `Lookaround is not supported; leave the include pattern blank and enter \`${exclude}\` as the exclude pattern`,
  lookaround_as_pair: ({ include, exclude }: { include: string; exclude: string }) =>
    `Lookaround is not supported; enter \`${include}\` as the include pattern and \`${exclude}\` as the exclude pattern`,
  back_reference: ({ used }: { used: string }) =>
    `The back-reference \`${used}\` is not supported; write the repeated part in full`,
  syntax: ({ hint, error }: { hint: Message; error: string }, tell) =>
    `The pattern is not a valid regular expression: ${tell(hint)} (${error})`,

  possessive: "atomic groups and possessive repetition are not supported; a plain group and a plain + do the same here",
  comments: "comments and free spacing are not supported; remove them",
  conditions: "conditions are not supported; use alternatives (a|b)",
  group: "this kind of group is not supported; use (…), (?:…) or (?i) at the start",
  text_end: "use $ or \\z for the end",
  code_point: "use \\x{…} for a character by its number",
  escape: "this escape is not supported; a literal backslash is \\\\",
  last_backslash: "it ends with a single backslash; a literal one is \\\\",
  open_set: "close the [ with ], or use \\[ for a literal one",
  counts: "counts go from 0 to 1000, the smaller first",
  repeated_twice: "two repetitions follow each other; put what the second one repeats in brackets, as in (?:a+){3}",
  nothing_to_repeat: "a repetition needs something to repeat; use \\* for a literal star and .* for anything",
  brackets: "check brackets and escapes, and put a backslash before a literal ( ) [ ] { } . * + ? | ^ $",
} satisfies Area;
