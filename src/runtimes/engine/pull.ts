import * as v from "valibot";
import { PluginError, type PluginErrorCode } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { tryBoundedJson } from "../../net/bounded-json.ts";
import type { PullProgress } from "../journal.ts";

/** An event is one line of JSON; engines never send longer ones. */
const maxLineLength = 1024 * 1024;
/** Bounds what is counted: an image has at most 127 layers, with short IDs. */
const maxLayers = 1_000;
const maxIdLength = 200;

/** Anything but a number of bytes counts as none. */
const ByteCount = v.fallback(v.nullish(v.pipe(v.number(), v.safeInteger(), v.minValue(0))), null);

/** No member is required, so an array would pass too. */
const PullEvent = v.looseObject({
  id: v.nullish(v.string()),
  status: v.nullish(v.string()),
  progressDetail: v.nullish(v.looseObject({ current: ByteCount, total: ByteCount })),
  error: v.nullish(v.string()),
  errorDetail: v.nullish(v.looseObject({ message: v.nullish(v.string()) })),
});

interface Layer {
  bytes: number;
  total: number | null;
  isDone: boolean;
}

/**
 * Reads the stream of a pull. The engine responds with 200 before it knows whether the pull works, and reports a failure as an event:
 * `end` throws it. Both `take` and `end` throw if the stream is not from an engine.
 */
export function pullReader(reference: string, onProgress: (progress: PullProgress) => void) {
  const layers = new Map<string, Layer>();
  let rest = "";
  let failure: PluginError | null = null;
  let events = 0;
  const malformed = (said: Message) => new PluginError("malformed", said);

  const read = (line: string) => {
    if (line.trim() === "") return;
    const value = tryBoundedJson(line);
    const event = v.safeParse(PullEvent, Array.isArray(value) ? undefined : value);
    if (!event.success) throw malformed(say("engine.pull_malformed", { reference, start: line.slice(0, 120) }));
    events += 1;
    const { id, status, progressDetail, error, errorDetail } = event.output;
    const text = errorDetail?.message ?? error ?? null;
    if (text !== null) {
      failure ??= pullFailure(reference, text);
      return;
    }
    if (id === null || id === undefined || status === null || status === undefined) return;
    if (id.length > maxIdLength || (layers.size >= maxLayers && !layers.has(id))) return;
    if (note(layers, id, status, progressDetail ?? null)) onProgress(summary(layers));
  };

  return {
    take(chunk: string): void {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) read(line);
      if (rest.length > maxLineLength) throw malformed(say("engine.pull_endless_line", { reference }));
    },
    end(): void {
      read(rest);
      if (failure !== null) throw failure;
      if (events === 0) throw malformed(say("engine.pull_silent", { reference }));
    },
  };
}

/** What the engine could not get from the registry, from its message: an event of the stream or a status 500. */
export function pullFailure(reference: string, text: string): PluginError {
  return new PluginError(pullErrorCode(text), say("engine.pull_failed", { reference, answer: text.slice(0, 500) }));
}

/** True when the layers' state changed. */
function note(
  layers: Map<string, Layer>,
  id: string,
  status: string,
  detail: { current?: number | null | undefined; total?: number | null | undefined } | null,
): boolean {
  const layer = layers.get(id) ?? { bytes: 0, total: null, isDone: false };
  if (status === "Pulling fs layer" || status === "Waiting") {
    layers.set(id, layer);
  } else if (status === "Downloading") {
    layers.set(id, { ...layer, bytes: detail?.current ?? layer.bytes, total: detail?.total ?? layer.total });
  } else if (status === "Download complete") {
    layers.set(id, { ...layer, bytes: layer.total ?? layer.bytes });
  } else if (status === "Pull complete" || status === "Already exists") {
    layers.set(id, { ...layer, bytes: layer.total ?? layer.bytes, isDone: true });
  } else {
    return false;
  }
  return true;
}

function summary(layers: ReadonlyMap<string, Layer>): PullProgress {
  const all = [...layers.values()];
  const sized = all.filter((layer) => layer.total !== null);
  return {
    bytes: sized.length === 0 ? null : sized.reduce((sum, layer) => sum + layer.bytes, 0),
    total_bytes: sized.length === 0 ? null : sized.reduce((sum, layer) => sum + (layer.total ?? 0), 0),
    layers_done: all.filter((layer) => layer.isDone).length,
    layers_total: all.length,
  };
}

/** The engine passes the registry's message on without a status; these texts matter for a retry. */
function pullErrorCode(text: string): PluginErrorCode {
  const words = text.toLowerCase();
  if (words.includes("toomanyrequests") || words.includes("rate limit")) return "rate_limited";
  if (
    words.includes("unauthorized") ||
    words.includes("denied") ||
    words.includes("no basic auth credentials") ||
    words.includes("authentication required")
  ) {
    return "unauthorized";
  }
  if (words.includes("manifest unknown") || words.includes("not found") || words.includes("no matching manifest")) {
    return "not_found";
  }
  const transport = [
    "dial tcp",
    "timeout",
    "connection refused",
    "connection reset",
    "no such host",
    "unexpected eof",
    ": eof",
  ];
  return transport.some((each) => words.includes(each)) ? "unreachable" : "rejected";
}
