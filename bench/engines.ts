import { systemClock } from "../src/clock.ts";
import { engineAddress } from "../src/runtimes/engine/address.ts";
import { defaultDeadlines } from "../src/runtimes/engine/client.ts";
import { openEngine, type SessionOptions } from "../src/runtimes/engine/session.ts";
import { createSurveyMemory } from "../src/runtimes/engine/survey-memory.ts";
import { type EngineTransport, engineTransport } from "../src/runtimes/engine/transport.ts";
import type { RuntimeSession } from "../src/runtimes/session.ts";
import { allEngineModes, type EngineMode, engineMissing, type TestEngine } from "../tests/peers/engine.ts";
import { flavours, kindOf } from "../tests/support/engine-modes.ts";
import { withImportedImages } from "../tests/support/prepared.ts";
import { median, ms, quantile, ratio } from "./figures.ts";

/** `--engines=docker-20,podman`; all of `standard` that can be started here when left out. Says which cannot, and ends where none can. */
export function chosenModes(standard: readonly EngineMode[] = allEngineModes): readonly EngineMode[] {
  const given = process.argv.find((argument) => argument.startsWith("--engines="))?.slice("--engines=".length);
  const wanted = given === undefined ? standard : given.split(",").map(modeCalled);
  const able = wanted.filter((mode) => {
    const missing = engineMissing(mode);
    if (missing !== null) console.error(`Not measured on ${mode}: ${missing}`);
    return missing === null;
  });
  if (able.length === 0) process.exit(1);
  return able;
}

function modeCalled(name: string): EngineMode {
  const mode = allEngineModes.find((each) => each === name);
  if (mode !== undefined) return mode;
  console.error(`--engines names some of ${allEngineModes.join(", ")}`);
  process.exit(2);
}

/** Every call that a session makes, as `GET /containers/json`, without the API's version. */
export interface CallCount {
  calls: string[];
  /** The calls of this work alone. */
  during<T>(work: () => Promise<T>): Promise<{ result: T; calls: readonly string[] }>;
}

/** A session as the product opens it, with its own deadlines; `count` sees every call. */
export async function openBenchSession(
  engine: Pick<TestEngine, "address" | "mode">,
  options: Pick<SessionOptions, "compose_folders"> & { count?: CallCount } = {},
): Promise<RuntimeSession> {
  const { count, ...further } = options;
  const context = {
    signal: new AbortController().signal,
    clock: systemClock,
    self: { hostname: "somewhere-else", data_dir: "/nowhere/tidemark" },
  };
  const address = engineAddress(engine.address, false, null);
  const transport = engineTransport(address, context.signal);
  return await openEngine({
    flavour: flavours[kindOf(engine.mode)],
    address,
    api_version: null,
    registry_auth: null,
    deadlines: defaultDeadlines,
    context,
    memory: createSurveyMemory(),
    transport: withImportedImages(count === undefined ? transport : counted(transport, count)),
    ...further,
  });
}

export function callCount(): CallCount {
  const calls: string[] = [];
  return {
    calls,
    during: async (work) => {
      const from = calls.length;
      const result = await work();
      return { result, calls: calls.slice(from) };
    },
  };
}

function counted(transport: EngineTransport, { calls }: CallCount): EngineTransport {
  const note = ({ method, path }: { method: string; path: string }) => {
    calls.push(`${method} ${path.replace(/^\/v[0-9.]+(?=\/)/, "")}`);
  };
  return {
    send: (request) => {
      note(request);
      return transport.send(request);
    },
    stream: (request, onChunk) => {
      note(request);
      return transport.stream(request, onChunk);
    },
  };
}

/** Everything on an engine of ours, whoever made it. */
export async function removeAllContainers(engine: TestEngine): Promise<void> {
  for (;;) {
    const left = (await engine.call("GET", "/containers/json?all=1")) as { Id: string }[];
    if (left.length === 0) return;
    let failure: unknown = null;
    for (const { Id } of left) {
      await engine.call("DELETE", `/containers/${Id}?force=1&v=1`).catch((error: unknown) => {
        failure = error;
      });
    }
    const after = (await engine.call("GET", "/containers/json?all=1")) as { Id: string }[];
    // Podman keeps one that others hang on until those are gone.
    if (after.length === left.length) throw failure;
  }
}

/** `median (10th to 90th percentile)`. */
export function spread(values: readonly number[], show: (value: number) => string = ms): string {
  return `${show(median(values))} (${show(quantile(values, 0.1))} to ${show(quantile(values, 0.9))})`;
}

/** The ratio of the medians, and between which the ratios of single rounds lie. */
export function ratioOf(left: readonly number[], right: readonly number[]): { value: number; text: string } {
  const rounds = left.map((value, index) => value / (right[index] ?? Number.NaN));
  const value = median(left) / median(right);
  return {
    value,
    text: `${ratio(value)} (rounds ${ratio(quantile(rounds, 0.1))} to ${ratio(quantile(rounds, 0.9))})`,
  };
}

/** PID 1 that says its image's version on `$LISTEN` (`127.0.0.1:80`) at once, and ends at once when it is told to. */
export const serveVersion =
  "trap 'kill $!; exit 0' TERM; echo $APP_VERSION > /www/index.html; httpd -f -p $LISTEN -h /www & wait $!";
