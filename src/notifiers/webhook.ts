import { createHmac } from "node:crypto";
import * as v from "valibot";
import { toText } from "../messages/message.ts";
import { parseHttpUrl } from "../net/destination.ts";
import { readRetryAfter } from "../net/rate-headers.ts";
import type { Message, Notifier } from "./notifier.ts";
import { webhookEntries } from "./webhook-schema.ts";

const Config = v.strictObject({
  ...webhookEntries,
  url: v.pipe(
    webhookEntries.url,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const parsed = parseHttpUrl(dataset.value);
      if (!parsed.ok) addIssue({ message: toText(parsed.reason) });
    }),
  ),
});

type WebhookConfig = v.InferOutput<typeof Config>;

/** `sha256=` and the hex HMAC-SHA-256 over timestamp, a full stop and the body exactly as sent. */
function sign(secret: string, timestamp: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

/** The request of one delivery. The timestamp is in Unix seconds, for receivers to compare with their clock. */
function requestDelivery(config: WebhookConfig, message: Message): { url: URL; init: RequestInit } {
  const body = JSON.stringify(message.body);
  const timestamp = String(Math.floor(message.sent_at / 1000));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "user-agent": "Tidemark",
    "x-tidemark-delivery": message.id,
    "x-tidemark-event": message.event,
    "x-tidemark-timestamp": timestamp,
  };
  if (config.signing_secret !== undefined)
    headers["x-tidemark-signature"] = sign(config.signing_secret, timestamp, body);
  return { url: new URL(config.url), init: { method: "POST", headers, body } };
}

export const webhook: Notifier<"webhook"> = {
  kind: "webhook",
  title: "Webhook",
  Config,
  destination: (config) => ({ url: v.parse(Config, config).url, purpose: "webhook" }),
  open: (config, context) => {
    const parsed = v.parse(Config, config);
    return {
      send: async (message) => {
        const { url, init } = requestDelivery(parsed, message);
        const response = await context.fetch(url, init);
        return { status: response.status, retry_after_ms: readRetryAfter(response.headers, context.clock.now()) };
      },
    };
  },
};
