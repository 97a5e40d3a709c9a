import { say } from "../../messages/message.ts";
import { IndexError, type IndexReader, type IndexSink, maxEntryCharacters } from "./index-reader.ts";

/** Deeper than any chart's facts. */
const maxDepth = 64;
const maxKeyCharacters = 4_096;
/** The depth inside the list of a chart's versions: `{ "entries": { "name": [ here`. */
const listDepth = 3;
const quote = 0x22;
const backslash = 0x5c;

/**
 * Reads an index in JSON, in one pass. Like the YAML reader, it only looks at the structure and hands over the text of each version of
 * the wanted chart.
 */
export function jsonReader(chart: string, sink: IndexSink): IndexReader {
  /** The closing brackets of what is open. */
  const closers: string[] = [];
  let isInString = false;
  let isEscaped = false;
  let hasBegun = false;
  let hasEntries = false;
  let hasChart = false;
  let isInEntries = false;
  let isInChart = false;
  /** The current string, if it may be a key that matters. */
  let text: string | null = null;
  let key: string | null = null;
  /** The text of a version in earlier pieces. */
  let entry: string | null = null;

  const beginKey = (name: string) => {
    if (closers.length === 1) {
      isInEntries = name === "entries";
      if (isInEntries && hasEntries) throw new IndexError(say("charts.entries_twice"));
      hasEntries ||= isInEntries;
    } else if (closers.length === 2 && isInEntries) {
      isInChart = name === chart;
      if (isInChart && hasChart) throw new IndexError(say("charts.chart_twice", { chart }));
      hasChart ||= isInChart;
      sink.onChart(name);
    }
  };
  const open = (character: string) => {
    const depth = closers.length;
    if (depth === 0 && character !== "{") throw new IndexError(say("charts.index_is_list"));
    if (depth === 1 && isInEntries && character !== "{") throw new IndexError(say("charts.entries_no_mapping"));
    if (depth === 2 && isInChart && character !== "[") throw new IndexError(say("charts.versions_no_list", { chart }));
    if (depth >= maxDepth) throw new IndexError(say("charts.index_too_deep", { levels: maxDepth }));
    closers.push(character === "{" ? "}" : "]");
    hasBegun = true;
  };
  const bound = (characters: number) => {
    if (characters <= maxEntryCharacters) return;
    throw new IndexError(say("charts.version_too_large", { chart, kib: maxEntryCharacters / 1024 }));
  };

  return {
    push(piece) {
      let stringFrom = 0;
      let entryFrom = 0;
      for (let at = 0; at < piece.length; at++) {
        if (isInString) {
          const code = piece.charCodeAt(at);
          if (isEscaped) isEscaped = false;
          else if (code === backslash) isEscaped = true;
          else if (code === quote) {
            isInString = false;
            if (text !== null) key = unquoted(text + piece.slice(stringFrom, at));
            text = null;
          }
          continue;
        }
        const character = piece[at] ?? "";
        if (character === '"') {
          isInString = true;
          stringFrom = at + 1;
          const isKey = closers.length === 1 || (closers.length === 2 && isInEntries);
          text = isKey ? "" : null;
        } else if (character === ":") {
          if (key !== null) beginKey(key);
          key = null;
        } else if (character === "{" || character === "[") {
          open(character);
          if (isInChart && closers.length === listDepth + 1 && entry === null) {
            entry = "";
            entryFrom = at;
          }
        } else if (character === "}" || character === "]") {
          if (closers.pop() !== character) throw new IndexError(say("charts.brackets_mismatched"));
          if (entry !== null && closers.length === listDepth) {
            bound(entry.length + at + 1 - entryFrom);
            sink.onEntry(entry + piece.slice(entryFrom, at + 1));
            entry = null;
          }
          if (closers.length < listDepth) isInChart = false;
          if (closers.length < listDepth - 1) isInEntries = false;
        } else if (character === ",") key = null;
      }
      if (text !== null) {
        text += piece.slice(stringFrom);
        if (text.length > maxKeyCharacters) text = null;
      }
      if (entry !== null) {
        entry += piece.slice(entryFrom);
        bound(entry.length);
      }
    },
    end() {
      if (!hasBegun) throw new IndexError(say("sources.answer_empty"));
      if (isInString || closers.length > 0) throw new IndexError(say("charts.json_cut"));
      if (!hasEntries) throw new IndexError(say("charts.no_entries"));
    },
  };
}

function unquoted(text: string): string {
  try {
    const value: unknown = JSON.parse(`"${text}"`);
    return typeof value === "string" ? value : text;
  } catch (cause) {
    throw new IndexError(say("charts.name_no_json"), cause);
  }
}
