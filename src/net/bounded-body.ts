import { PluginError } from "../errors.ts";

/** Bodies up to this are held in memory before the answer is handed over, so that a broken one can still be asked for again. */
export const bufferedBytes = 2 * 1024 * 1024;

function tooLarge(host: string, limit: number): PluginError {
  const size = limit >= 1024 * 1024 ? `${Math.floor(limit / 1024 / 1024)} MiB` : `${limit} bytes`;
  return new PluginError("malformed", `The answer of "${host}" is larger than ${size}`);
}

/** The start of a body, complete when `rest` is null; otherwise the rest goes on where the start ends. */
export interface StartedBody {
  start: Uint8Array<ArrayBuffer>;
  rest: AsyncIterator<Uint8Array> | null;
}

export interface BodyLimits {
  host: string;
  /** More than this (after decompression) is `malformed`. */
  max_bytes: number;
}

/** Reads until the end or until `bufferedBytes` are held. A body over the limit throws `malformed` and closes its source. */
export async function startBody(source: AsyncIterable<Uint8Array>, limits: BodyLimits): Promise<StartedBody> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await iterator.next();
    if (next.done) return { start: join(chunks, length), rest: null };
    chunks.push(next.value);
    length += next.value.byteLength;
    if (length > limits.max_bytes) {
      await iterator.return?.();
      throw tooLarge(limits.host, limits.max_bytes);
    }
    if (length > bufferedBytes) return { start: join(chunks, length), rest: iterator };
  }
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
  /** What the reader gets in place of an error of the source. */
  toError: (cause: unknown) => PluginError;
  /** Called once, when the last byte was read, the reader gave up, or the source failed. */
  onEnd: () => void;
}

/** A stream of a large body, under the same limit; reading it fails with a PluginError only. */
export function streamBody(
  start: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
  end: StreamEnd,
): ReadableStream<Uint8Array> {
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
        const next = await rest.next();
        if (next.done) {
          end.onEnd();
          controller.close();
          return;
        }
        length += next.value.byteLength;
        if (length > end.max_bytes) {
          await rest.return?.();
          throw tooLarge(end.host, end.max_bytes);
        }
        controller.enqueue(next.value);
      } catch (cause) {
        end.onEnd();
        controller.error(end.toError(cause));
      }
    },
    async cancel() {
      end.onEnd();
      await rest.return?.();
    },
  });
}
