import type { ConfigSchema, Destination, PluginContext } from "../plugin.ts";

const notifierKinds = ["webhook"] as const;
export type NotifierKind = (typeof notifierKinds)[number];

/** One delivery: `body` is the JSON payload (event, title, text, …); retries keep the same `id`. */
export interface Message {
  id: string;
  event: string;
  /** Milliseconds UTC of this attempt; part of the signature. */
  sent_at: number;
  body: Readonly<Record<string, unknown>>;
}

/** The receiver's response; the caller judges the status. */
export interface Answer {
  status: number;
  retry_after_ms: number | null;
}

export interface OpenNotifier {
  /** Throws `PluginError`: `rejected` for a blocked or redirecting destination (never retried), otherwise `unreachable`. */
  send(message: Message): Promise<Answer>;
}

export interface Notifier<K extends NotifierKind = NotifierKind> {
  kind: K;
  title: string;
  /** Stored encrypted as one value, because all of it is secret: a webhook URL contains its token. */
  Config: ConfigSchema;
  open(config: unknown, context: PluginContext): OpenNotifier;
  /** The destination, checked by the guard when the configuration is saved. */
  destination(config: unknown): Destination;
}
