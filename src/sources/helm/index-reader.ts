import { SaidError } from "../../errors.ts";

/** Takes an index piece by piece; what it finds goes to its sink. Throws `IndexError` for what cannot be read. */
export interface IndexReader {
  /** Text in any portions. */
  push(text: string): void;
  /** The index is complete. */
  end(): void;
}

export interface IndexSink {
  /** Each chart's name, in the index's order. */
  onChart(name: string): void;
  /** The text of one version of the wanted chart, or of a list of them, as YAML by itself. */
  onEntry(text: string): void;
}

/** Longest text of one version: larger than any chart's facts, small enough to be parsed without holding others up. */
export const maxEntryCharacters = 256 * 1024;
/** Longest line: an icon may be written into an index. */
export const maxLineCharacters = 4 * 1024 * 1024;

/** Why an index cannot be read. */
export class IndexError extends SaidError {}
