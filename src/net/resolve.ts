import dns from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";
import { isMetadataAddress, parseAddress } from "./address.ts";
import { neverAllowed } from "./destination.ts";

export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** All A and AAAA records of a name, from the operating system; rejects or is empty when there are none. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

/** No honest service has more; each address is checked, so there must be a limit. */
const maxAnswers = 64;

export const systemResolve: Resolve = async (host) => {
  const answers = await dns.lookup(host, { all: true, order: "verbatim" });
  return answers.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** The addresses of one resolution; `unreachable` when there are none, `rejected` when there are absurdly many. */
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

/** The addresses that a connection to a possibly private place may use; a metadata address refuses the whole name. */
export async function resolveBeyondMetadata(resolve: Resolve, host: string): Promise<readonly ResolvedAddress[]> {
  const answers = await resolveAll(resolve, host);
  const isRefused = answers.some(({ address }) => parseAddress(address) === null || isMetadataAddress(address));
  if (isRefused) throw new PluginError("rejected", neverAllowed);
  return answers;
}

/** The address, when the host is one; null for a name. */
export function literalAddress(host: string): ResolvedAddress | null {
  const bytes = parseAddress(host);
  return bytes === null ? null : { address: host, family: bytes.length === 4 ? 4 : 6 };
}

/** A `lookup` for node:http and node:net that calls `find` instead of DNS: connections go where `find` says. */
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
