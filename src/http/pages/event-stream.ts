import type { Clock } from "../../clock.ts";
import type { AppContext } from "../context.ts";

export interface StreamMessage {
  /** What a reader that lost its stream sends back as `Last-Event-ID`. */
  id: string;
  /** HTML; may have several lines. */
  data: string;
}

/** A silent stream is asked about by `app.js` after 25 s; proxies in between close one after a minute. */
const pingMs = 10_000;

function encoded({ id, data }: StreamMessage): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${id}\n${lines.join("")}\n`;
}

/**
 * Answers with server-sent events until the messages end or the reader is gone; `messages` gets the signal that says so. A ping
 * keeps a silent stream alive.
 */
export function eventStream(
  c: AppContext,
  clock: Clock,
  messages: (signal: AbortSignal) => AsyncIterable<StreamMessage>,
): Response {
  const headers = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    // Nginx and its kin hold answers back until a buffer is full, unless told not to.
    "X-Accel-Buffering": "no",
  };
  // Nobody would ever read or cancel the stream behind an answer to HEAD.
  if (c.req.method === "HEAD") return c.body(null, 200, headers);
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, c.req.raw.signal]);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const send = (text: string) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const ping = async () => {
        while (!signal.aborted) {
          await clock.sleep(pingMs, signal);
          send("event: ping\ndata:\n\n");
        }
      };
      const work = async () => {
        send("event: ping\ndata:\n\n");
        for await (const message of messages(signal)) send(encoded(message));
      };
      ping().catch((error: unknown) => {
        if (!signal.aborted) controller.error(error);
      });
      work().then(
        () => {
          if (!signal.aborted) controller.close();
          gone.abort();
        },
        (error: unknown) => {
          if (!signal.aborted) controller.error(error);
          gone.abort();
        },
      );
    },
    cancel: () => gone.abort(),
  });
  return c.body(body, 200, headers);
}
