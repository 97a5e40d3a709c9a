import type { Clock } from "../../clock.ts";
import type { AppContext } from "../context.ts";

export interface StreamMessage {
  /** Sent back as `Last-Event-ID` by a reader that lost its stream. */
  id: string;
  /** HTML; may have several lines. */
  data: string;
}

/** `app.js` checks a silent stream after 25 s; proxies close one after a minute. */
const pingMs = 10_000;
/** How long an ended session may keep its stream; each check is one read by key. */
const lookMs = 1000;

function encoded({ id, data }: StreamMessage): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${id}\n${lines.join("")}\n`;
}

interface StreamOptions {
  clock: Clock;
  /** Whether the session is still valid; false ends the stream. */
  holds: () => Promise<boolean>;
  /** Aborted when the process is about to end, and the stream with it. */
  closing: AbortSignal;
}

/**
 * Sends server-sent events until the messages end, the reader disconnects or the session ends; `messages` gets the signal for that. Checks
 * the session before each message. A ping keeps a silent stream alive.
 */
export function eventStream(
  c: AppContext,
  { clock, holds, closing }: StreamOptions,
  messages: (signal: AbortSignal) => AsyncIterable<StreamMessage>,
): Response {
  const headers = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    // Nginx and others buffer responses unless told otherwise.
    "X-Accel-Buffering": "no",
  };
  // Nobody would read or cancel the stream of a response to HEAD.
  if (c.req.method === "HEAD") return c.body(null, 200, headers);
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, c.req.raw.signal]);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const send = (text: string) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const end = () => {
        if (!signal.aborted) controller.close();
        gone.abort();
      };
      const fail = (error: unknown) => {
        if (!signal.aborted) controller.error(error);
        gone.abort();
      };
      const watch = async () => {
        for (let look = 1; !signal.aborted; look += 1) {
          await clock.sleep(lookMs, signal);
          if (!(await holds())) return end();
          if (look % (pingMs / lookMs) === 0) send("event: ping\ndata:\n\n");
        }
      };
      const work = async () => {
        send("event: ping\ndata:\n\n");
        for await (const message of messages(signal)) {
          if (!(await holds())) break;
          send(encoded(message));
        }
      };
      if (closing.aborted) end();
      closing.addEventListener("abort", end, { once: true, signal });
      watch().catch((error: unknown) => {
        if (!signal.aborted) fail(error);
      });
      work().then(end, fail);
    },
    cancel: () => gone.abort(),
  });
  return c.body(body, 200, headers);
}
