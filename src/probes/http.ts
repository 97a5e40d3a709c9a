import * as v from "valibot";
import { PluginError, saidBy } from "../errors.ts";
import { issue, type Message, say, says, toText } from "../messages/message.ts";
import { hasHiddenCharacters, hostInUrl } from "../net/destination.ts";
import { readText } from "../net/read-json.ts";
import { parsePattern } from "../versions/pattern.ts";
import { type Probe, ProbeHost, ProbePort } from "./probe.ts";

const maxStatusCodes = 20;

/** `200, 204` as numbers; null for any other text. Blank is an empty list. */
function parseStatusCodes(text: string): readonly number[] | null {
  if (text.trim() === "") return [];
  const parts = text.split(",").map((part) => part.trim());
  const isList = parts.length <= maxStatusCodes && parts.every((part) => /^[1-5]\d\d$/.test(part));
  return isList ? [...new Set(parts.map(Number))] : null;
}

/** A linear-time engine takes text times program: 2 million steps are about 40 ms here. A large pattern searches less of the body. */
const maxMatchSteps = 2_000_000;

const fields = v.strictObject({
  protocol: v.pipe(v.picklist(["http", "https"]), v.title("Protocol")),
  host: v.pipe(
    ProbeHost,
    v.title("Host"),
    v.description("Must be public; its resolved address is checked at each attempt"),
  ),
  port: v.pipe(ProbePort, v.title("Port"), v.description("80 or 8080 for http; 443, 8443 or 9443 for https")),
  path: v.pipe(
    v.string(),
    v.maxLength(1_024),
    v.regex(/^\/(?!\/)/, issue("probes.path_start")),
    v.check((path) => !/[\\#]/.test(path) && !hasHiddenCharacters(path), issue("probes.path_characters")),
    v.title("Path"),
    v.metadata({ placeholder: "/health" }),
  ),
  method: v.pipe(v.picklist(["GET", "HEAD"]), v.title("Method")),
  expected_status_codes: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => parseStatusCodes(text) !== null, issue("probes.status_codes", { limit: maxStatusCodes })),
      v.title("Expected status codes"),
      v.description("Blank accepts every 2xx, and any 3xx that is not a redirect; redirects are always refused"),
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
      v.description("Must appear in the first 64 KiB of the response; blank accepts every body"),
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
      issue("probes.pattern_without_body"),
    ),
    ["expected_body_pattern"],
  ),
);

type HttpProbeConfig = v.InferOutput<typeof Config>;

/** Null when the body passes, else what was searched and where. */
function judgeBody(status: number, pattern: string, body: string): Message | null {
  const { compiled } = parsePattern(pattern);
  const length = Math.min(body.length, Math.floor(maxMatchSteps / Math.max(compiled.programSize(), 1)));
  if (compiled.matcher(body.slice(0, length)).find()) return null;
  return say("probes.pattern_missing", { status, pattern, length });
}

/** By concatenation: `new URL("//other/x", base)` would let a path change the host. */
function probeUrl(config: HttpProbeConfig): string {
  return `${config.protocol}://${hostInUrl(config.host)}:${config.port}${config.path}`;
}

/** Whether a status passes. Redirects never get here: the guarded fetch refuses them. */
function isExpectedStatus(status: number, expected: readonly number[]): boolean {
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
    return {
      attempt: async (signal) => {
        try {
          const response = await context.fetch(new URL(probeUrl(parsed)), { method: parsed.method, signal });
          const { status } = response;
          if (!isExpectedStatus(status, expected)) {
            return { ready: false, detail: say("probes.status_unexpected", { status, expected }) };
          }
          const pattern = parsed.expected_body_pattern;
          const missing = pattern === "" ? null : judgeBody(status, pattern, await readText(response));
          if (missing !== null) return { ready: false, detail: missing };
          return { ready: true, detail: say("probes.answered", { status }) };
        } catch (error) {
          if (!(error instanceof PluginError)) throw error;
          // A redirect may come from a start-up page; a blocked destination stays blocked.
          return { ready: false, detail: error.said, final: says(error.said, "net.destination_blocked") };
        }
      },
    };
  },
};
