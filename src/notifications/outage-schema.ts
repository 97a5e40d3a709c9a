import * as v from "valibot";
import type { Writer } from "../db/client.ts";
import { Instant } from "../forms/inputs.ts";
import { MessageSchema } from "../messages/schema.ts";

/** How long something must have failed before notifiers learn of it: longer than a restart takes. */
export const outageNotifiedAfterMs = 15 * 60_000;
/** Maximum number of members named for an outage. */
export const namedMembers = 20;

const shared = {
  since: Instant,
  /** Why the latest attempt failed. */
  code: v.string(),
  reason: v.string(),
  reason_data: MessageSchema,
};
/** The sources of enabled trackers that cannot be checked; the first of them by name. */
const members = {
  host: v.string(),
  source_count: v.number(),
  sources: v.array(v.object({ tracker: v.string(), source: v.string() })),
};

/** What does not work, with what depends on it: one cause, however many members it has. */
export const Outage = v.variant("cause", [
  v.object({
    cause: v.literal("connection"),
    connection: v.string(),
    connection_id: v.string(),
    ...shared,
    /** Enabled ones. */
    executor_count: v.number(),
    executors: v.array(v.string()),
  }),
  v.object({ cause: v.literal("upstream"), ...shared, ...members }),
  v.object({
    cause: v.literal("credential"),
    credential: v.string(),
    credential_id: v.string(),
    ...shared,
    ...members,
  }),
]);
export type Outage = v.InferOutput<typeof Outage>;

export const outageEvents = {
  connection: { begin: "connection_lost", end: "connection_recovered" },
  upstream: { begin: "upstream_unreachable", end: "upstream_recovered" },
  credential: { begin: "credential_refused", end: "credential_recovered" },
} as const;
type Ends = (typeof outageEvents)[Outage["cause"]];
export type OutageEventKind = Ends["begin"] | Ends["end"];

/** Facts of both events of an outage; only `lasted_ms` differs. */
export type OutageFacts = Outage & {
  /** The same in both events. */
  outage: string;
  /** Null while it is ongoing. */
  lasted_ms: number | null;
};

export interface OutageSubject {
  cause: Outage["cause"];
  /** The id of the connection, the host, or the id of the credential with the host. */
  subject: string;
}

/** Supplied to the features that notice outages. All of it happens in the caller's transaction. */
export interface OutageNotices {
  /**
   * An attempt has failed. Once it has lasted long enough, the result of `describe` becomes an event; null if it has no members. Returns
   * whether a later attempt may still confirm it.
   */
  failing: (tx: Writer, subject: OutageSubject, describe: () => Promise<Outage | null>) => Promise<boolean>;
  /** It works again: an event if its beginning was one. */
  over: (tx: Writer, subject: OutageSubject) => Promise<void>;
  /** After an edit: outages without any members end without an event. */
  forget: (tx: Writer) => Promise<void>;
}
