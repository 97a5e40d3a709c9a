import { AppError } from "../errors.ts";
import { type Message, say } from "../messages/message.ts";

/** For one request with its response: a frozen server blocks no request for longer. */
const defaultTimeoutMs = 10_000;
/** After decompression; far more than any list read at once. */
const maxAnswerBytes = 256 * 1024 * 1024;

function unusable(said: Message, cause?: unknown): AppError {
  return new AppError("database_unreachable", 503, said, { cause });
}

function unreachable(host: string, why: Message, cause?: unknown): AppError {
  return unusable(say("net.database_unreachable", { host, cause: why }), cause);
}

function tokenRejected(host: string, status: number): AppError {
  return unusable(say("net.database_token_rejected", { host, status }));
}

function reasonOf(cause: unknown): Message {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  if (code === "ECONNREFUSED") return say("net.database_refused");
  if (code === "ENOTFOUND") return say("net.database_unknown_name");
  return say("net.database_no_answer");
}

/**
 * The `fetch` of the libSQL client: each response has a deadline and a size limit and is read whole; redirects are not followed. The
 * library has no limits, so a frozen server would block every request forever.
 */
export function databaseFetch(timeoutMs = defaultTimeoutMs): (request: Request) => Promise<Response> {
  return async (request) => {
    const { host } = new URL(request.url);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(request, { redirect: "manual", signal });
      const { status, headers } = response;
      // Below 500 the body explains the refusal, and the library reads it; a rejected token is reported to the operator.
      const isRejected = status === 401 || status === 403;
      if (isRejected || status < 200 || (status >= 300 && status < 400) || status >= 500) {
        await response.body?.cancel();
        if (isRejected) throw tokenRejected(host, status);
        throw unreachable(host, say("net.database_status", { status }));
      }
      const body = await readBounded(response, host);
      return new Response(status === 204 || status === 205 ? null : body, { status, headers });
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw unreachable(
        host,
        signal.aborted ? say("net.database_silent", { seconds: timeoutMs / 1000 }) : reasonOf(cause),
        cause,
      );
    }
  };
}

async function readBounded(response: Response, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length > maxAnswerBytes)
      throw unreachable(host, say("net.database_answer_too_large", { mib: maxAnswerBytes / 1024 / 1024 }));
  }
  return new Uint8Array(Buffer.concat(chunks));
}
