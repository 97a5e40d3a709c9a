import * as v from "valibot";
import type { Writer } from "../db/client.ts";
import { Description, Instant, Name, NullableInstant } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";
import { languages } from "../messages/languages.ts";
import type { Message } from "../messages/message.ts";
import { MessageSchema, ProblemSchema } from "../messages/schema.ts";
import { webhookEntries } from "../notifiers/webhook-schema.ts";
import type { Aim, Maturity } from "../versions/maturity.ts";
import type { LaterButOlder } from "../versions/older-lines.ts";
import type { OutageEventKind, OutageFacts } from "./outage-schema.ts";

/** What a notifier can subscribe to. */
export const triggerKinds = [
  "new_release",
  "republish",
  "executor_run_succeeded",
  "executor_run_failed",
  "executor_run_skipped",
  "executor_run_awaiting_approval",
  "connection_lost",
  "upstream_unreachable",
  "credential_refused",
] as const;
export type TriggerKind = (typeof triggerKinds)[number];

export const eventKinds = [
  ...triggerKinds,
  "executor_target_recovered",
  "connection_recovered",
  "upstream_recovered",
  "credential_recovered",
] as const;
export type EventKind = (typeof eventKinds)[number];

/** The trigger of an event: notifiers that received an outage receive its end. */
export function triggerOf(kind: EventKind): TriggerKind {
  switch (kind) {
    case "executor_target_recovered":
      return "executor_run_failed";
    case "connection_recovered":
      return "connection_lost";
    case "upstream_recovered":
      return "upstream_unreachable";
    case "credential_recovered":
      return "credential_refused";
    default:
      return kind;
  }
}

const triggerKindTitles: Readonly<Record<TriggerKind, string>> = {
  new_release: "New release",
  republish: "Republish",
  executor_run_succeeded: "Executor run succeeded",
  executor_run_failed: "Executor run failed",
  executor_run_skipped: "Executor run skipped",
  executor_run_awaiting_approval: "Executor run awaits approval",
  connection_lost: "Connection lost",
  upstream_unreachable: "Upstream not responding",
  credential_refused: "Credential refused",
};

/** Published last, but below the highest known version. */
export interface ReleaseRemark {
  code: LaterButOlder;
  params: { newest: string };
}

/** Facts of a `new_release` or `republish`, named as in the webhook's body. */
export interface ReleaseFacts {
  tracker: string;
  /** The channel's name. */
  channel: string;
  /** The channel's type. */
  channel_type: Aim;
  version: string;
  tag: string;
  /** How stable the version is, whatever the channel takes. */
  maturity: Maturity;
  /** Why this is not the newest version of the channel; null when it is. */
  remark: ReleaseRemark | null;
  /** The newest version that the channel had before, or for an older line the newest of that line; null for its first. */
  previous_version: string | null;
  /** Keys of the sources that have it. */
  sources: readonly string[];
  url: string | null;
  notes: string | null;
  /** Other versions that appeared between the same two checks, newest first. */
  also: readonly string[];
  /** For a republish: the revisions before and after. */
  previous_revision: string | null;
  revision: string | null;
}

export interface VersionFacts {
  tag: string | null;
  digest: string | null;
}

interface AnyRunFacts {
  executor: string;
  run: string;
  kind: "update" | "rollback";
  from: VersionFacts;
  to: VersionFacts;
}

/** Facts of a finished run. */
export interface RunFacts extends AnyRunFacts {
  outcome: "succeeded" | "degraded" | "failed" | "skipped";
  reason: string | null;
  reason_data: Message | null;
  downtime_ms: number | null;
  /** What is running now: `desired`, `previous`, `none` or `unknown`. */
  serving: string | null;
}

/** Facts of a target that runs again after a run left it down. */
export interface RecoveredFacts extends AnyRunFacts {
  outcome: "recovered";
  /** What is running now: `desired`, `previous`, `mixed` or `unknown`. */
  serving: string | null;
  down_since: number;
  /** From `down_since` until it ran again. */
  downtime_ms: number;
  /** How many attempts it took. */
  tries: number;
}

/** Facts of a run that waits for approval of its plan. */
export interface AwaitingFacts extends AnyRunFacts {
  kind: "update";
  target: string;
  plan_hash: string;
  /** Approval is impossible after this. */
  approval_until: number;
}

export type NewEvent =
  | { kind: "new_release" | "republish"; tracker_id: string; facts: ReleaseFacts }
  | {
      kind: "executor_run_succeeded" | "executor_run_failed" | "executor_run_skipped";
      executor_id: string;
      run_id: string;
      facts: RunFacts;
    }
  // Neither is the run's own event, which reports its end: the run appears only in the facts.
  | { kind: "executor_run_awaiting_approval"; executor_id: string; facts: AwaitingFacts }
  | { kind: "executor_target_recovered"; executor_id: string; facts: RecoveredFacts }
  | { kind: OutageEventKind; facts: OutageFacts };

/** Writes the event and a delivery for each enabled notifier that subscribes to it, in the caller's transaction. */
export type RecordEvent = (tx: Writer, event: NewEvent) => Promise<void>;

/** Adds a source to the event that announced a version in a channel; false when there is none. */
export type AddSourceToEvent = (
  tx: Writer,
  announced: { tracker_id: string; channel: string; version: string },
  sourceKey: string,
) => Promise<boolean>;

const { url, signing_secret } = webhookEntries;

const entries = {
  name: Name,
  kind: v.optional(
    v.pipe(v.picklist(["webhook"]), v.title("Type"), v.metadata({ option_titles: { webhook: "Webhook" } })),
    "webhook",
  ),
  url,
  trigger_events: v.pipe(
    v.array(v.pipe(v.picklist(triggerKinds), v.metadata({ option_titles: triggerKindTitles }))),
    v.minLength(1),
    v.title("Trigger events"),
    v.metadata({ option_titles: triggerKindTitles }),
  ),
  language: v.pipe(
    v.picklist(languages),
    v.title("Message language"),
    v.metadata({ option_titles: { en: "English", zh: "中文" } }),
  ),
  is_enabled: v.optional(v.pipe(v.boolean(), v.title("Enabled")), true),
  signing_secret,
  description: Description,
};

export const NotifierInput = v.strictObject(entries);
export type NotifierInput = v.InferOutput<typeof NotifierInput>;

/** A field left out keeps its value, and so does a blank URL or secret; null removes the signing secret. */
export const NotifierPatch = v.strictObject({
  name: v.optional(Name),
  description: v.optional(Description.wrapped),
  is_enabled: v.optional(entries.is_enabled.wrapped),
  url: v.optional(v.union([v.literal(""), url])),
  signing_secret: v.optional(v.nullable(v.union([v.literal(""), signing_secret.wrapped]))),
  language: v.optional(entries.language),
  trigger_events: v.optional(entries.trigger_events),
});

export const deliveryStates = ["pending", "delivered", "failed"] as const;

export const DeliveryView = v.object({
  id: v.string(),
  notifier_id: v.string(),
  notifier: v.string(),
  event_id: v.nullable(v.string()),
  /** An event kind, or `test`. */
  event: v.string(),
  title: v.string(),
  state: v.picklist(deliveryStates),
  attempt_count: v.number(),
  next_attempt_at: NullableInstant,
  last_status: v.nullable(v.number()),
  last_error: v.nullable(v.string()),
  last_error_data: v.nullable(MessageSchema),
  attempts: v.array(
    v.object({
      attempt: v.number(),
      status: v.nullable(v.number()),
      error: v.nullable(v.string()),
      error_data: v.nullable(MessageSchema),
      duration_ms: v.number(),
      at: Instant,
    }),
  ),
  created_at: Instant,
  ended_at: NullableInstant,
});
export type DeliveryView = v.InferOutput<typeof DeliveryView>;

export const deliveryList: ListShape = {
  sorts: ["-time", "title", "event", "state"],
  filters: { state: deliveryStates, event: [...eventKinds, "test"] },
  searched: "Part of the title",
};

/** `unreadable`: its URL cannot be used, see `problem`. `stopped`: the receiver returned 410 Gone. */
export const notifierStates = ["sending", "unreadable", "stopped", "disabled"] as const;

export const notifierList: ListShape = {
  sorts: ["name", "destination"],
  filters: { state: notifierStates },
  searched: "Part of a name, description or destination",
};

export const NotifierView = v.object({
  id: v.string(),
  name: v.string(),
  /** One other than `webhook` was stored by a later version. */
  kind: v.string(),
  description: v.string(),
  is_enabled: v.boolean(),
  language: v.picklist(languages),
  trigger_events: v.array(v.picklist(triggerKinds)),
  /** Host and port of the webhook: the only part that is shown. */
  destination: v.string(),
  has_signing_secret: v.boolean(),
  state: v.picklist(notifierStates),
  /** Why its URL cannot be used: `secret_unreadable`, until another is entered, or `kind_unknown`. Messages wait. */
  problem: v.nullable(ProblemSchema),
  /** Set when the receiver returned 410 Gone; an edit clears it. */
  stopped_at: NullableInstant,
  last_delivery: v.nullable(DeliveryView),
  pending_count: v.number(),
  created_at: Instant,
  updated_at: Instant,
});
export type NotifierView = v.InferOutput<typeof NotifierView>;

export function notifierStateOf({
  is_enabled,
  problem,
  stopped_at,
}: Pick<NotifierView, "is_enabled" | "problem" | "stopped_at">) {
  if (!is_enabled) return "disabled";
  if (problem !== null) return "unreadable";
  return stopped_at === null ? "sending" : "stopped";
}

export const EventView = v.object({
  id: v.string(),
  kind: v.picklist(eventKinds),
  tracker_id: v.nullable(v.string()),
  executor_id: v.nullable(v.string()),
  run_id: v.nullable(v.string()),
  facts: v.record(v.string(), v.unknown()),
  created_at: Instant,
});
export type EventView = v.InferOutput<typeof EventView>;
