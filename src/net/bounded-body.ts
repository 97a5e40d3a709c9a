import type { Readable } from "node:stream";
import { PluginError } from "../errors.ts";
import { say } from "../messages/message.ts";

/** Bodies up to this size are buffered before the response is handed over, so that a broken one can be requested again. */
const bufferedBytes = 2 * 1024 * 1024;

function tooLarge(host: string, limit: number): PluginError {
  return new PluginError("malformed", say("net.answer_too_large", { host, bytes: limit }));
}

/** The start of a body, complete when `rest` is null; otherwise `rest` continues where the start ends. */
export interface StartedBody {
  start: Uint8Array<ArrayBuffer>;
  rest: Readable | null;
}

export interface BodyLimits {
  host: string;
  /** A larger body (after decompression) is `malformed`. */
  max_bytes: number;
}

/**
 * Reads to the end or until `bufferedBytes` are buffered. A body over the limit throws `malformed` and is destroyed. Uses events: an async
 * iterator costs as much as the rest of a small response.
 */
export function startBody(source: Readable, limits: BodyLimits): Promise<StartedBody> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const stop = () => {
      source.off("data", onData);
      source.off("end", onEnd);
      source.off("close", onClose);
      source.off("error", onError);
    };
    const onData = (chunk: Uint8Array) => {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > limits.max_bytes) {
        stop();
        source.destroy();
        reject(tooLarge(limits.host, limits.max_bytes));
      } else if (length > bufferedBytes) {
        source.pause();
        stop();
        resolve({ start: join(chunks, length), rest: source });
      }
    };
    const onEnd = () => {
      stop();
      resolve({ start: join(chunks, length), rest: null });
    };
    const onError = (error: Error) => {
      stop();
      reject(error);
    };
    const onClose = () => onError(Object.assign(new Error("The body broke off"), { code: "ECONNRESET" }));
    source.on("data", onData);
    source.on("end", onEnd);
    source.on("error", onError);
    source.on("close", onClose);
  });
}

/** Drains an unwanted body, so that its connection can be reused; destroys a long one. */
export function discardBody(source: Readable, maxBytes: number): Promise<void> {
  return new Promise((resolve) => {
    let length = 0;
    source.on("data", (chunk: Uint8Array) => {
      length += chunk.byteLength;
      if (length > maxBytes) source.destroy();
    });
    source.on("end", resolve);
    source.on("close", resolve);
    source.on("error", () => resolve());
    if (source.destroyed) resolve();
  });
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

export interface StreamEnd extends BodyLimits {
  /** Maps an error of the source to the reader's error. */
  toError: (cause: unknown) => PluginError;
  /** Called once: at the last byte, when the reader gives up, or when the source fails. */
  onEnd: () => void;
}

/** A stream of a large body under the same limit; reading it fails with a PluginError only. */
export function streamBody(start: Uint8Array, rest: Readable, end: StreamEnd): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = rest[Symbol.asyncIterator]();
  let length = start.byteLength;
  let isStarted = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!isStarted) {
        isStarted = true;
        controller.enqueue(start);
        return;
      }
      try {
        const next = await chunks.next();
        if (next.done) {
          end.onEnd();
          controller.close();
          return;
        }
        length += next.value.byteLength;
        if (length > end.max_bytes) {
          throw tooLarge(end.host, end.max_bytes);
        }
        controller.enqueue(next.value);
      } catch (cause) {
        rest.destroy();
        end.onEnd();
        controller.error(end.toError(cause));
      }
    },
    cancel() {
      // Not through the iterator: one that never started would leave its stream open.
      rest.destroy();
      end.onEnd();
    },
  });
}
