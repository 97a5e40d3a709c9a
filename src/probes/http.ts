import * as v from "valibot";
import { PluginError, saidBy } from "../errors.ts";
import { plain, says, toText } from "../messages/message.ts";
import { hasHiddenCharacters, hostInUrl, isBareHost } from "../net/destination.ts";
import { readText } from "../net/read-json.ts";
import { parsePattern } from "../versions/pattern.ts";
import type { Probe } from "./probe.ts";

const maxStatusCodes = 20;

/** `200, 204` as numbers; null when it is no list of status codes. Blank is an empty list. */
export function parseStatusCodes(text: string): readonly number[] | null {
  if (text.trim() === "") return [];
  const parts = text.split(",").map((part) => part.trim());
  const isList = parts.length <= maxStatusCodes && parts.every((part) => /^[1-5]\d\d$/.test(part));
  return isList ? [...new Set(parts.map(Number))] : null;
}

/**
 * A linear-time engine still takes text times program: 2 million steps are about 40 ms here. A large pattern is looked for in
 * less of the body.
 */
const maxMatchSteps = 2_000_000;

const fields = v.strictObject({
  protocol: v.pipe(v.picklist(["http", "https"]), v.title("Protocol")),
  host: v.pipe(
    v.string(),
    v.check(isBareHost, "Write a host name or an address alone, without scheme, port, path or brackets"),
    v.title("Host"),
    v.description("Must be public; the address that it resolves to is checked at each attempt"),
  ),
  port: v.pipe(
    v.number(),
    v.integer("A port is a whole number"),
    v.minValue(1, "A port is at least 1"),
    v.maxValue(65_535, "A port is at most 65535"),
    v.title("Port"),
    v.description("80 or 8080 for http; 443, 8443 or 9443 for https"),
  ),
  path: v.pipe(
    v.string(),
    v.maxLength(1_024, "A path has at most 1024 characters"),
    v.regex(/^\/(?!\/)/, 'The path must start with exactly one "/"'),
    v.check(
      (path) => !/[\\#]/.test(path) && !hasHiddenCharacters(path),
      "The path has spaces, backslashes, control characters or a fragment",
    ),
    v.title("Path"),
    v.metadata({ placeholder: "/health" }),
  ),
  method: v.pipe(v.picklist(["GET", "HEAD"]), v.title("Method")),
  expected_status_codes: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => parseStatusCodes(text) !== null,
        `Write at most ${maxStatusCodes} status codes from 100 to 599 with commas between them, for example "200, 204"`,
      ),
      v.title("Expected status codes"),
      v.description("Blank takes every 2xx, and 3xx that is no redirect; a redirect is always refused"),
      v.metadata({ placeholder: "200, 204" }),
    ),
    "",
  ),
  expected_body_pattern: v.optional(
    v.pipe(
      v.string(),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed || dataset.value === "") return;
        try {
          parsePattern(dataset.value);
        } catch (error) {
          addIssue({ message: toText(saidBy(error)) });
        }
      }),
      v.title("Expected body pattern"),
      v.description("Must be found in the first 64 KiB of the answer; blank takes every body"),
      v.metadata({ code: true, advanced: true, placeholder: '"status":\\s*"(ok|UP)"' }),
    ),
    "",
  ),
});

const Config = v.pipe(
  fields,
  v.forward(
    v.partialCheck(
      [["method"], ["expected_body_pattern"]],
      (input) => input.method !== "HEAD" || input.expected_body_pattern === "",
      "A body pattern needs the method GET, an answer to HEAD has no body",
    ),
    ["expected_body_pattern"],
  ),
);

type HttpProbeConfig = v.InferOutput<typeof Config>;

/** Null when the body passes, else what was looked for and where. */
function judgeBody(pattern: string, body: string): string | null {
  const { compiled } = parsePattern(pattern);
  const length = Math.min(body.length, Math.floor(maxMatchSteps / Math.max(compiled.programSize(), 1)));
  if (compiled.matcher(body.slice(0, length)).find()) return null;
  return `"${pattern}" is not in the first ${length} characters of the answer`;
}

/** By concatenation: `new URL("//other/x", base)` would let a path change the host. */
export function probeUrl(config: HttpProbeConfig): string {
  return `${config.protocol}://${hostInUrl(config.host)}:${config.port}${config.path}`;
}

/** Whether a status passes. Redirects never get here, the guarded fetch refuses them. */
export function isExpectedStatus(status: number, expected: readonly number[]): boolean {
  return expected.length === 0 ? status >= 200 && status < 400 : expected.includes(status);
}

export const http: Probe<"http"> = {
  kind: "http",
  title: "HTTP probe",
  Config,
  destination: (config) => ({ url: probeUrl(v.parse(Config, config)), purpose: "probe" }),
  open: (config, context) => {
    const parsed = v.parse(Config, config);
    const expected = parseStatusCodes(parsed.expected_status_codes) ?? [];
    const wanted = expected.length === 0 ? "2xx or 3xx" : expected.join(", ");
    return {
      attempt: async (signal) => {
        try {
          const response = await context.fetch(new URL(probeUrl(parsed)), { method: parsed.method, signal });
          const { status } = response;
          if (!isExpectedStatus(status, expected)) {
            return { ready: false, detail: plain(`Answered ${status}, expected ${wanted}`) };
          }
          const pattern = parsed.expected_body_pattern;
          const missing = pattern === "" ? null : judgeBody(pattern, await readText(response));
          if (missing !== null) return { ready: false, detail: plain(`Answered ${status}, but ${missing}`) };
          return { ready: true, detail: plain(`Answered ${status}`) };
        } catch (error) {
          if (!(error instanceof PluginError)) throw error;
          // A redirect may be a start-up page; a blocked destination stays blocked.
          return { ready: false, detail: error.said, final: says(error.said, "net.destination_blocked") };
        }
      },
    };
  },
};
