import https from "node:https";
import type { LookupFunction } from "node:net";
import { type Clock, parseInstant } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";
import { RecentMap } from "../recent-map.ts";
import { bareHost } from "./address.ts";
import type { Deadline } from "./deadline.ts";
import { answerHead, headersOf } from "./exchange.ts";

/** How far this machine's clock is from a host's. */
interface ClockDifference {
  host: string;
  /** Positive if this machine's clock is ahead. */
  ms: number;
  /** The same in words. */
  said: Message;
}

/** Smaller ones break nothing: certificates and tokens leave room for minutes. */
const noteworthyMs = 5 * 60_000;
const maxHosts = 200;

/**
 * What the clocks of other hosts show, by the `Date` of their responses. Each is remembered by elapsed time: once our clock has been
 * corrected, none differs any more.
 */
export function clockDifferences(clock: Pick<Clock, "now" | "elapsed">) {
  /** A host's time at our elapsed time zero. */
  const origins = new RecentMap<string, number>(maxHosts);
  /** Null if the host's clock is unknown or shows about the same. */
  const of = (host: string): ClockDifference | null => {
    const origin = origins.get(host);
    if (origin === undefined) return null;
    const ms = clock.now() - (origin + clock.elapsed());
    if (Math.abs(ms) < noteworthyMs) return null;
    return {
      host,
      ms,
      said: say("net.clock_differs", { host, minutes: Math.round(Math.abs(ms) / 60_000), is_ahead: ms > 0 }),
    };
  };
  return {
    observe(host: string, headers: Headers): void {
      // A cache repeats the time at which it stored the response.
      if ((headers.get("age") ?? "0").trim() !== "0") return;
      const at = parseInstant(headers.get("date") ?? "");
      if (at !== null) origins.set(host, at - clock.elapsed());
    },
    isKnown: (host: string): boolean => origins.has(host),
    of,
    /** The reason with the difference that explains it; the reason alone if there is none. */
    explain(reason: Message, host: string): Message {
      const difference = of(host);
      return difference === null ? reason : say("phrases.joined", { items: [reason, difference.said] });
    },
    /** The hosts whose clock differs, the latest response first. */
    all: (): ClockDifference[] => [...origins.keys()].flatMap((host) => of(host) ?? []).toReversed(),
  };
}
export type ClockDifferences = ReturnType<typeof clockDifferences>;

/** Whether a certificate was refused for the time that our clock shows. */
function isAboutTime(cause: unknown): boolean {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  return code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID";
}

interface Asking {
  differences: ClockDifferences;
  lookup: LookupFunction;
  deadline: Deadline;
}

/**
 * The error; if a certificate was refused for its time, with the difference of the clocks. A host that has not responded before is asked
 * for its time by an empty request: its certificate is not verified, and only `Date` is read.
 */
export async function explainedByClocks(error: PluginError, url: URL, asking: Asking): Promise<PluginError> {
  const { differences } = asking;
  if (!isAboutTime(error.cause)) return error;
  if (!differences.isKnown(url.host)) {
    try {
      differences.observe(url.host, await dateOf(url, asking));
    } catch {
      return error; // the host tells no time: the refusal stands for itself
    }
  }
  return new PluginError(error.code, differences.explain(error.said, url.host), { cause: error });
}

async function dateOf({ hostname, port }: URL, { lookup, deadline }: Asking): Promise<Headers> {
  const agent = new https.Agent({ keepAlive: false, rejectUnauthorized: false, proxyEnv: {} });
  const request = {
    ...{ protocol: "https:", hostname: bareHost(hostname), port: port === "" ? 443 : Number(port), path: "/" },
    ...{ method: "HEAD", agent, lookup },
  };
  const response = await answerHead(request, null, (sent) => deadline.watch(() => sent.destroy()));
  response.destroy();
  return headersOf(response);
}
