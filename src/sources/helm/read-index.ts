import { setImmediate as nextTurn } from "node:timers/promises";
import { errorMessage } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { failure, oneLine } from "../failure.ts";
import type { ParseYaml } from "./changes.ts";
import { type ChartVersion, readEntry } from "./chart-version.ts";
import { IndexError, type IndexReader, type IndexSink } from "./index-reader.ts";
import { jsonReader } from "./json-reader.ts";
import { loadYaml } from "./parse-yaml.ts";
import { similarNames } from "./similar-names.ts";
import { yamlReader } from "./yaml-reader.ts";

/** Bytes that are read before the event loop runs again: a few milliseconds of work. */
const bytesPerTurn = 32 * 1024;
/** Characters of the chart's own entries that are parsed at once. */
const parsedPerTurn = 16 * 1024;
/** Versions of one chart; more are refused. */
const maxVersions = 20_000;
/** Names that are remembered to suggest similar ones. */
const maxNames = 20_000;

interface ReadIndexOptions {
  chart: string;
  /** The base of relative addresses. */
  base: URL;
  /** For errors. */
  action: Message;
  signal: AbortSignal;
}

/** The position of the first character that is not a space, comment, directive or `---`; -1 if there is none yet. */
function contentAt(text: string): number {
  const skipped = /\s+|---(?=\s)|[#%][^\n]*(?:\n|$)/y;
  let at = 0;
  while (at < text.length) {
    skipped.lastIndex = at;
    const found = skipped.exec(text);
    // The document marker may be incomplete.
    if (found === null) return /^-{1,3}$/.test(text.slice(at, at + 4)) ? -1 : at;
    at += found[0].length;
  }
  return -1;
}

/** Chooses the reader by the first character. A web page is refused at once. */
function detectingReader(chart: string, sink: IndexSink): IndexReader {
  let chosen: IndexReader | null = null;
  let held = "";
  const release = (): IndexReader => {
    const at = contentAt(held);
    const first = held[at];
    if (first === "<") throw new IndexError(say("charts.web_page"));
    const isFlow = first === "{" || first === "[";
    chosen = isFlow ? jsonReader(chart, sink) : yamlReader(chart, sink);
    chosen.push(isFlow ? held.slice(at) : held);
    held = "";
    return chosen;
  };
  return {
    push(text) {
      if (chosen !== null) return chosen.push(text);
      held += text;
      if (contentAt(held) !== -1 || held.length > bytesPerTurn) release();
    },
    end: () => (chosen ?? release()).end(),
  };
}

/** A copy: a slice would keep its whole piece in memory, and names from every piece the whole index. */
function copied(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}

/** The chart's versions; entries wait until there is time to parse them. */
function collector(options: ReadIndexOptions, parse: ParseYaml) {
  const { chart, base } = options;
  const versions = new Map<string, ChartVersion>();
  const names = new Set<string>();
  const waiting: string[] = [];
  let hasChart = false;
  let unusable: string | null = null;

  const add = (value: unknown) => {
    const read = readEntry(value, base, parse);
    if (typeof read === "string") unusable ??= read;
    // Of two entries of one version, Helm takes the first.
    else if (!versions.has(read.version)) versions.set(read.version, read);
    if (versions.size > maxVersions) {
      throw new IndexError(say("charts.too_many_versions", { chart, limit: maxVersions }));
    }
  };
  const parseEntry = (text: string) => {
    let value: unknown;
    try {
      value = parse(text);
    } catch (cause) {
      const after = [...versions.keys()].at(-1);
      const reason = oneLine(errorMessage(cause), 300);
      const said =
        after === undefined
          ? say("charts.first_version_no_yaml", { chart, reason })
          : say("charts.version_no_yaml", { chart, after, reason });
      throw new IndexError(said, cause);
    }
    if (Array.isArray(value)) for (const item of value) add(item);
    else if (typeof value === "object" && value !== null) add(value);
    else if (typeof value === "string" && !["", "~", "null"].includes(value.trim())) {
      throw new IndexError(say("charts.versions_no_list", { chart }));
    }
  };
  return {
    sink: {
      onChart(name: string) {
        hasChart ||= name === chart;
        if (names.size < maxNames) names.add(copied(name));
      },
      onEntry: (text: string) => waiting.push(text),
    },
    async parseWaiting() {
      let parsed = 0;
      for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) {
        parseEntry(text);
        parsed += text.length;
        if (parsed < parsedPerTurn) continue;
        parsed = 0;
        await nextTurn();
      }
    },
    finish(): readonly ChartVersion[] {
      if (!hasChart) {
        const similar = similarNames(chart, [...names]).map((name) => oneLine(name, 80));
        throw new ChartMissing(say("charts.missing", { chart, count: names.size, similar }));
      }
      if (versions.size === 0 && unusable !== null) {
        throw new IndexError(say("charts.no_usable_version", { chart, first: oneLine(unusable, 60) }));
      }
      return [...versions.values()];
    },
  };
}

class ChartMissing extends IndexError {}

async function readAll(body: ReadableStream<Uint8Array>, options: ReadIndexOptions): Promise<readonly ChartVersion[]> {
  const found = collector(options, await loadYaml());
  const reader = detectingReader(options.chart, found.sink);
  const decoder = new TextDecoder();
  let inTurn = 0;
  for await (const chunk of body) {
    for (let from = 0; from < chunk.byteLength; from += bytesPerTurn) {
      const piece = chunk.subarray(from, from + bytesPerTurn);
      reader.push(decoder.decode(piece, { stream: true }));
      await found.parseWaiting();
      inTurn += piece.byteLength;
      if (inTurn < bytesPerTurn) continue;
      inTurn = 0;
      await nextTurn();
      options.signal.throwIfAborted();
    }
  }
  reader.push(decoder.decode());
  reader.end();
  await found.parseWaiting();
  return found.finish();
}

/**
 * The versions of one chart in an index, in its order. The body is read piece by piece, up to the first error; only the names of other
 * charts are kept. Throws PluginError `malformed`, or `not_found` with similar names.
 */
export async function readIndex(
  body: ReadableStream<Uint8Array>,
  options: ReadIndexOptions,
): Promise<readonly ChartVersion[]> {
  try {
    return await readAll(body, options);
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
    const code = error instanceof ChartMissing ? "not_found" : "malformed";
    throw failure(code, options.action, error.said, error);
  }
}
