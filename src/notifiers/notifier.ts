import type { ConfigSchema, Destination, PluginContext } from "../plugin.ts";

export const notifierKinds = ["webhook"] as const;
export type NotifierKind = (typeof notifierKinds)[number];

/** One delivery as it leaves: `body` is the JSON of requirements (event, title, text, …), `id` repeats when it is sent again. */
export interface Message {
  id: string;
  event: string;
  /** Milliseconds UTC of this attempt; part of the signature. */
  sent_at: number;
  body: Readonly<Record<string, unknown>>;
}

/** What the receiver answered; statuses are judged by the caller. */
export interface Answer {
  status: number;
  retry_after_ms: number | null;
}

export interface OpenNotifier {
  /** Throws `PluginError`: `rejected` for a destination that is blocked or redirects (never retried), `unreachable` for the rest. */
  send(message: Message): Promise<Answer>;
}

export interface Notifier<K extends NotifierKind = NotifierKind> {
  kind: K;
  title: string;
  /** All of it is secret (a webhook URL carries its token): stored sealed as one value. */
  Config: ConfigSchema;
  open(config: unknown, context: PluginContext): OpenNotifier;
  /** The destination that whoever saves the configuration has the guard judge. */
  destination(config: unknown): Destination;
}
