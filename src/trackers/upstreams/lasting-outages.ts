import type { Writer } from "../../db/client.ts";
import { plain, toldAs } from "../../messages/message.ts";
import { namedMembers, type Outage, type OutageNotices } from "../../notifications/outage-schema.ts";
import type { SourceRow } from "../source-queries.ts";
import { findOutage, latestAtHost } from "./outage-queries.ts";
import { currentOutages } from "./outages.ts";
import { refusedSources } from "./refusal-queries.ts";

type Refused = Awaited<ReturnType<typeof refusedSources>>;

/** What the end of a check says about outages that notifiers learn of: of its host, and of its credential there. */
export function lastingOutages(outages: OutageNotices) {
  const atHost = (host: string) => ({ cause: "upstream", subject: host }) as const;
  const withCredential = (credential_id: string, host: string) =>
    ({ cause: "credential", subject: `${credential_id} ${host}` }) as const;

  /** Null when no source waits for it, and for a host that has never responded. */
  const describeOutage = async (tx: Writer, host: string): Promise<Outage | null> => {
    const found = (await currentOutages(tx)).find((outage) => outage.host === host);
    if (found === undefined || (await latestAtHost(tx, host, "")).succeeded_at === null) return null;
    const { since, error, waiting: source_count, sources } = found;
    const reason = { code: error.code, reason: error.message, reason_data: error.message_data };
    return { cause: "upstream", since, ...reason, host, source_count, sources };
  };
  const describeRefusal = (refused: Refused, credential_id: string, host: string): Outage | null => {
    const [first] = refused;
    // A credential that was never accepted has not stopped working.
    if (first === undefined || refused.every(({ last_success_at }) => last_success_at === null)) return null;
    const reason = toldAs("reason", first.error_message ?? plain(""));
    return {
      cause: "credential",
      ...{ credential: first.credential, credential_id, since: first.failing_since ?? 0 },
      ...{ code: "unauthorized", ...reason, host, source_count: refused.length },
      sources: refused.slice(0, namedMembers).map(({ tracker, source }) => ({ tracker, source })),
    };
  };

  return {
    /** A check failed because its host did not respond. It may also fail alone. */
    silent: async (tx: Writer, host: string): Promise<void> => {
      if ((await findOutage(tx, host)) === null) return;
      await outages.failing(tx, atHost(host), () => describeOutage(tx, host));
    },

    /** The outage of a host is over. */
    responded: async (tx: Writer, host: string): Promise<void> => await outages.over(tx, atHost(host)),

    /** A source was refused. Returns whether another refusal is needed to confirm it. */
    refused: async (tx: Writer, { credential_id, host }: SourceRow): Promise<boolean> => {
      if (credential_id === null) return false;
      const refused = await refusedSources(tx, { credential_id, host });
      if (refused.length === 0) return false;
      const describe = async () => describeRefusal(refused, credential_id, host);
      return await outages.failing(tx, withCredential(credential_id, host), describe);
    },

    /** A source that failed was checked. */
    accepted: async (tx: Writer, { credential_id, host }: SourceRow): Promise<void> => {
      if (credential_id === null) return;
      const refused = await refusedSources(tx, { credential_id, host });
      if (refused.length === 0) await outages.over(tx, withCredential(credential_id, host));
    },
  };
}
