import { SaidError } from "../../errors.ts";

/** Reads an index piece by piece into a sink. Throws `IndexError`. */
export interface IndexReader {
  /** Text in pieces of any size. */
  push(text: string): void;
  /** The index is complete. */
  end(): void;
}

export interface IndexSink {
  /** Each chart's name, in the index's order. */
  onChart(name: string): void;
  /** One version of the wanted chart, or a list of them, as complete YAML. */
  onEntry(text: string): void;
}

/** Of one version: larger than any chart's facts, small enough to parse without delaying others. */
export const maxEntryCharacters = 256 * 1024;
/** Of one line: an index may contain an icon. */
export const maxLineCharacters = 4 * 1024 * 1024;

/** An index cannot be read. */
export class IndexError extends SaidError {}
