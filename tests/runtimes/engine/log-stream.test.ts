import { expect, test } from "bun:test";
import { framedLogLines, plainLogLines } from "../../../src/runtimes/engine/log-stream.ts";

const at = "2026-11-26T12:06:25.953476274Z";
const bytes = (text: string) => new TextEncoder().encode(text);
function frame(output: number, text: string): Uint8Array {
  const body = bytes(text);
  const head = Buffer.alloc(8);
  head[0] = output;
  head.writeUInt32BE(body.length, 4);
  return new Uint8Array(Buffer.concat([head, body]));
}
const joined = (...pieces: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(pieces));

test.each([1, 2, 7, 4_096])("frames are read in pieces of %i bytes, each output by itself", (size) => {
  const stream = joined(
    frame(1, `${at} one\n`),
    frame(2, `${at} Fehler: 日本\n`),
    frame(1, `${at} tw`),
    frame(2, `${at} between\n`),
    frame(1, "o\n"),
    frame(1, `${at} the last`),
  );
  const lines = framedLogLines();
  const found: string[] = [];
  for (let from = 0; from < stream.length; from += size) {
    for (const { at: time, text } of lines.take(stream.subarray(from, from + size))) found.push(`${time} ${text}`);
  }
  expect(found).toEqual(["one", "Fehler: 日本", "between", "two"].map((text) => `${at} ${text}`));
  expect(lines.end()).toEqual([{ at, text: "the last" }]);
  expect(lines.end()).toEqual([]);
});

test.each<[written: string, at: string, text: string]>([
  ["2026-11-26T12:06:12Z line", "2026-11-26T12:06:12.000000000Z", "line"],
  ["2026-11-26T12:06:12.5Z line", "2026-11-26T12:06:12.500000000Z", "line"],
  ["2026-11-26T14:06:12.25+02:00 line", "2026-11-26T12:06:12.250000000Z", "line"],
  ["2026-11-26T12:06:12Z ", "2026-11-26T12:06:12.000000000Z", ""],
  ["2026-11-26T12:06:12Z   indented", "2026-11-26T12:06:12.000000000Z", "  indented"],
  ["no time", "", "no time"],
])("the time of %p", (written, time, text) => {
  expect(plainLogLines().take(bytes(`${written}\n`))).toEqual([{ at: time, text }]);
});

test("of a long line only the beginning is kept, and its cut marked", () => {
  const lines = plainLogLines();
  const piece = bytes("x".repeat(65_536));
  lines.take(bytes(`${at} `));
  for (let count = 0; count < 64; count += 1) expect(lines.take(piece)).toEqual([]);
  const [line] = lines.take(bytes("\nnext\n"));
  expect(line?.at).toBe(at);
  expect(line?.text.length).toBeGreaterThan(4_000);
  expect(line?.text.length).toBeLessThan(4_200);
  expect(line?.text).toEndWith("x…");
});

test("what is returned does not hold on to the bytes that it came from", () => {
  const chunk = joined(frame(1, `${at} on`));
  const lines = framedLogLines();
  lines.take(chunk);
  chunk.fill(0);
  expect(lines.take(frame(1, "e\n"))).toEqual([{ at, text: "one" }]);
});
