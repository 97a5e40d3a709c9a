import dns from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { isMetadataAddress, parseAddress } from "./address.ts";

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Every A and AAAA answer for a name, as the operating system gives them; rejects or is empty when there is none. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

/** More answers than this are cut by no honest service; each one is checked, so there has to be an end. */
const maxAnswers = 64;

export const systemResolve: Resolve = async (host) => {
  const answers = await dns.lookup(host, { all: true, order: "verbatim" });
  return answers.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** The answers of one resolution; `unreachable` when there is none, `rejected` when there are absurdly many. */
export async function resolveAll(resolve: Resolve, host: string): Promise<readonly ResolvedAddress[]> {
  let answers: readonly ResolvedAddress[];
  try {
    answers = await resolve(host);
  } catch (cause) {
    throw new PluginError("unreachable", say("net.name_unresolved", { host }), { cause });
  }
  if (answers.length === 0) throw new PluginError("unreachable", say("net.name_without_address", { host }));
  if (answers.length > maxAnswers) {
    throw new PluginError(
      "rejected",
      say("net.name_with_many_addresses", { host, count: answers.length, limit: maxAnswers }),
    );
  }
  return answers;
}

/** The answers that a connection to a place that may be private may go to; a metadata address refuses the whole name. */
export async function resolveBeyondMetadata(resolve: Resolve, host: string): Promise<readonly ResolvedAddress[]> {
  const answers = await resolveAll(resolve, host);
  const isRefused = answers.some(({ address }) => parseAddress(address) === null || isMetadataAddress(address));
  if (isRefused) throw new PluginError("rejected", say("net.destination_blocked"));
  return answers;
}

/** The address that a host is, or null when it is a name. */
export function literalAddress(host: string): ResolvedAddress | null {
  const bytes = parseAddress(host);
  return bytes === null ? null : { address: host, family: bytes.length === 4 ? 4 : 6 };
}

/** A `lookup` for node:http and node:net that asks `find` in place of DNS: what it connects to is what `find` returned. */
export function lookupFrom(find: (host: string) => Promise<readonly ResolvedAddress[]>): LookupFunction {
  return (host, options, callback) => {
    find(host).then(
      (answers) => {
        const [first] = answers;
        if (options.all) callback(null, [...answers]);
        else if (first) callback(null, first.address, first.family);
        else callback(new Error("No address"), "", 4);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), "", 4),
    );
  };
}
