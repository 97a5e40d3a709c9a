import { type Config, configSecrets, readProcessConfig } from "./config.ts";
import { AppError, errorMessage, TerminalError } from "./errors.ts";
import { lastWords } from "./secrets/redaction.ts";
import { type Started, start } from "./start.ts";
import { version } from "./version.ts";

/** Deno's replacement for `Bun.serve`. */
interface DenoServe {
  serve(
    options: { hostname: string; port: number; onListen: (address: { port: number }) => void },
    handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => Response | Promise<Response>,
  ): { shutdown(): Promise<void> };
}
declare const Deno: DenoServe | undefined;

type Handler = (request: Request, peerAddress: string | null) => Promise<Response>;

interface Listener {
  port: number;
  close(): Promise<void>;
}

/** By then a start has settled, and the first page was shown. */
const collectAfterMs = 10_000;
/** Longest orderly stop; container engines kill after 30 s at the latest. */
const stopLimitMs = 25_000;

/** Why the port could not be opened, and what to do. */
function listenRefusal(host: string, port: number, cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const told = (text: string) => new TerminalError(text, { cause });
  if (code === "EADDRINUSE")
    return told(`Port ${port} of ${host} is in use; stop the program that uses it, or set PORT to another one`);
  if (code === "EACCES")
    return told(`Port ${port} needs rights that Tidemark does not have; set PORT to one above 1023`);
  if (/^(EADDRNOTAVAIL|EAFNOSUPPORT|EINVAL|ENOTFOUND|EAI_)/.test(code))
    return told(
      `HOST is "${host}", and this machine has no such address; set 127.0.0.1, 0.0.0.0 or an address of its own`,
    );
  return told(`Port ${port} of ${host} cannot be opened (${errorMessage(cause)}); correct HOST or PORT`);
}

async function listen(host: string, port: number, handler: Handler): Promise<Listener> {
  if (typeof Deno !== "undefined") {
    const deno = Deno;
    return await new Promise((resolve) => {
      const server = deno.serve(
        {
          hostname: host,
          port,
          onListen: (address) => resolve({ port: address.port, close: () => server.shutdown() }),
        },
        (request, info) => handler(request, info.remoteAddr.hostname ?? null),
      );
    });
  }
  const server = Bun.serve({
    hostname: host,
    port,
    // A live page's stream is silent for longer than the default of 10 s; it sends a comment every 15 s.
    idleTimeout: 120,
    // The application has a smaller limit of its own and responds with all its headers; Bun's own response has none.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: (request, self) => handler(request, self.requestIP(request)?.address ?? null),
  });
  return { port: server.port ?? port, close: () => server.stop() };
}

function fail(text: string): never {
  process.stderr.write(`Tidemark cannot start.\n${text}\n`);
  process.exit(1);
}

function stopOnSignals(started: Started, listener: Listener): void {
  let isStopping = false;
  const onSignal = (signal: string) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    started.log.info("Stopping", { signal });
    const deadline = setTimeout(() => {
      started.log.error("Stop took too long", { limit_ms: stopLimitMs });
      process.exit(1);
    }, stopLimitMs);
    const stop = async () => {
      const closed = listener.close();
      await started.stop();
      // Responses are on their way; a client that does not read them is not awaited.
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000))]);
      await started.close();
      clearTimeout(deadline);
      started.log.info("Stopped");
      process.exit(0);
    };
    stop().catch((error: unknown) => {
      started.log.error("Stop failed", { error });
      process.exit(1);
    });
  };
  process.on("SIGTERM", () => onSignal("SIGTERM"));
  process.on("SIGINT", () => onSignal("SIGINT"));
}

function configOrEnd(): Config {
  try {
    return readProcessConfig();
  } catch (error) {
    // One line for each wrong variable.
    return fail(error instanceof TerminalError ? error.message : errorMessage(error));
  }
}

async function main(config: Config): Promise<void> {
  // Before any file is created: the database client does not set modes itself.
  process.umask(0o077);
  const started = await start(config);
  process.on("unhandledRejection", (error) => started.log.error("Unhandled rejection", { error }));
  process.on("uncaughtException", (error) => {
    started.log.error("Uncaught exception", { error });
    process.exit(1);
  });
  const listener = await listen(config.host, config.port, started.answer).catch(async (error: unknown) => {
    await started.stop();
    await started.close();
    throw listenRefusal(config.host, config.port, error);
  });
  // Before readiness is announced, because a signal may follow at once.
  stopOnSignals(started, listener);
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  started.log.info("Tidemark is ready", {
    address: config.base_url ?? `http://${host}:${listener.port}`,
    version,
    data_dir: config.data_dir,
  });
  started.begin(listener.port);
  // Frees the memory of the start: an idle process would never collect it.
  if (typeof Deno === "undefined") setTimeout(() => Bun.gc(true), collectAfterMs).unref();
}

const config = configOrEnd();
await main(config).catch((error: unknown) => {
  const words = lastWords(error, configSecrets(config));
  fail(error instanceof AppError || error instanceof TerminalError ? words : `Unexpected: ${words}`);
});
