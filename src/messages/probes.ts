import type { Area } from "./types.ts";

type Answered = { status: number };

/** Results of probes, and how to fill in their fields. */
export const probes = {
  host_alone: "Enter only a host name or address, without scheme, port, path or brackets",
  path_start: 'The path must start with exactly one "/"',
  path_characters: "The path has spaces, backslashes, control characters or a fragment",
  status_codes: ({ limit }: { limit: number }) =>
    `Enter at most ${limit} status codes from 100 to 599, separated by commas, for example "200, 204"`,
  pattern_without_body: "A body pattern needs the method GET; a response to HEAD has no body",

  answered: ({ status }: Answered) => `Returned ${status}`,
  /** No codes: every 2xx and 3xx. */
  status_unexpected: ({ status, expected }: Answered & { expected: readonly number[] }) =>
    `Returned ${status}, expected ${expected.join(", ") || "2xx or 3xx"}`,
  pattern_missing: ({ status, pattern, length }: Answered & { pattern: string; length: number }) =>
    `Returned ${status}, but "${pattern}" is not in the first ${length} characters of the response`,
  port_open: ({ port }: { port: number }) => `Port ${port} accepts connections`,
  no_answer: ({ seconds }: { seconds: number }) => `No response within ${seconds} s`,
} satisfies Area;
