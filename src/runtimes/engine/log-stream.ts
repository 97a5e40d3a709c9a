import { parseInstant, toIso } from "../../clock.ts";
import { maxReadChars } from "../../shown-lines.ts";
import type { LogLine } from "../logs.ts";

const newline = 0x0a;
const headerBytes = 8;
/** Longer than any time. */
const maxTimeChars = 64;
const maxKeptChars = maxReadChars + maxTimeChars;
const time = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d) ?/;

/**
 * Takes the bytes of a log piece by piece and returns the lines that are complete, each with the time that the runtime writes before it. Of
 * a long line only the beginning is kept, and "…" added; engines repeat the time within one, but only after more than that.
 */
export interface LogLines {
  take(chunk: Uint8Array): readonly LogLine[];
  /** What was written last, without a line end. */
  end(): readonly LogLine[];
}

/** Lines that follow each other. */
export function plainLogLines(): LogLines {
  let decoder = new TextDecoder();
  let text = "";
  const add = (bytes: Uint8Array) => {
    const room = maxKeptChars - text.length;
    // No character has more than four bytes: of a long line, no more is decoded than is kept.
    if (room > 0) text += decoder.decode(bytes.subarray(0, room * 4), { stream: true }).slice(0, room);
  };
  const complete = (): LogLine => {
    const line = lineOf(text.length < maxKeptChars ? text : `${text}…`);
    decoder = new TextDecoder();
    text = "";
    return line;
  };
  return {
    take: (chunk) => {
      const lines: LogLine[] = [];
      let from = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        add(chunk.subarray(from, at));
        lines.push(complete());
        from = at + 1;
      }
      add(chunk.subarray(from));
      return lines;
    },
    end: () => (text === "" ? [] : [complete()]),
  };
}

/**
 * The lines of both outputs as frames: a byte that says which, three zeros, the length of what follows in four bytes. A frame is a line, or
 * a piece of a long one.
 */
export function framedLogLines(): LogLines {
  const outputs = [plainLogLines(), plainLogLines(), plainLogLines()] as const;
  const header = Buffer.alloc(headerBytes);
  let headerLength = 0;
  let output = outputs[1];
  let rest = 0;
  return {
    take: (chunk) => {
      const lines: LogLine[][] = [];
      for (let at = 0; at < chunk.length; ) {
        if (rest > 0) {
          const piece = chunk.subarray(at, at + rest);
          rest -= piece.length;
          at += piece.length;
          lines.push([...output.take(piece)]);
          continue;
        }
        const piece = chunk.subarray(at, at + headerBytes - headerLength);
        header.set(piece, headerLength);
        headerLength += piece.length;
        at += piece.length;
        if (headerLength < headerBytes) break;
        headerLength = 0;
        rest = header.readUInt32BE(4);
        output = outputs[header[0] === 2 ? 2 : 1];
      }
      return lines.flat();
    },
    end: () => outputs.flatMap((each) => [...each.end()]),
  };
}

function lineOf(written: string): LogLine {
  const [stamp = "", seconds = "", fraction = "", zone = ""] = time.exec(written) ?? [];
  return {
    at: seconds === "" ? "" : `${secondsInUtc(seconds, zone)}.${fraction.padEnd(9, "0")}Z`,
    text: written.slice(stamp.length),
  };
}

/** Container runtimes of a cluster write their own zone. */
function secondsInUtc(seconds: string, zone: string): string {
  const at = zone === "Z" ? null : parseInstant(`${seconds}${zone}`);
  return at === null ? seconds : toIso(at).slice(0, seconds.length);
}

/** The lines of a body as it arrives. */
export async function* logLinesOf(
  body: AsyncIterable<Uint8Array>,
  lines: LogLines,
): AsyncGenerator<readonly LogLine[]> {
  for await (const chunk of body) yield lines.take(chunk);
  yield lines.end();
}
