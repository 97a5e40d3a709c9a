import type { ReadStream } from "node:tty";
import { TerminalError } from "../errors.ts";

// The password's own rules refuse longer input; this only bounds memory for a pipe without a line end.
const MAXIMUM_CHARACTERS = 8192;

export interface HiddenPrompt {
  /** Prints the question and reads one line without echo. Throws when the terminal is closed or Ctrl-C is pressed. */
  ask(question: string): Promise<string>;
  /** Restores the terminal. */
  close(): void;
}

function cancelled(): TerminalError {
  return new TerminalError("Input cancelled");
}

/** Invalid bytes would all decode to the same character, and turn two passwords into one. */
function notUtf8(cause: unknown): TerminalError {
  return new TerminalError("The input is not UTF-8; set the terminal to UTF-8 and try again", { cause });
}

// Keeps a byte order mark, so that the password's rules refuse it instead of dropping it silently.
const createDecoder = () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads from a terminal without echo; null when the input is none. */
export function createHiddenPrompt(input: ReadStream, output: NodeJS.WritableStream): HiddenPrompt | null {
  if (!input.isTTY) return null;
  input.setRawMode(true);
  const decoder = createDecoder();
  // Text after the line end belongs to the next question.
  let waiting = "";
  let isClosed = false;
  let failure: TerminalError | null = null;
  let wake: () => void = () => undefined;
  const onData = (chunk: string | Buffer) => {
    try {
      waiting += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    } catch (error) {
      failure ??= notUtf8(error);
    }
    wake();
  };
  const onEnd = () => {
    isClosed = true;
    wake();
  };
  input.on("data", onData);
  input.on("end", onEnd);
  input.resume();

  /** Takes characters until the line ends; null when it is incomplete. */
  const takeLine = (line: string[]): string | null => {
    const typed = [...waiting];
    for (const [index, char] of typed.entries()) {
      if (char === "\r" || char === "\n") {
        // A pasted line may end with both.
        const skip = char === "\r" && typed[index + 1] === "\n" ? 2 : 1;
        waiting = typed.slice(index + skip).join("");
        return line.join("");
      }
      if (char === "\u0003" || (char === "\u0004" && line.length === 0)) throw cancelled();
      if (char === "\u007f" || char === "\b") line.pop();
      else if (char === "\u0015") line.length = 0;
      else if (line.length < MAXIMUM_CHARACTERS) line.push(char);
    }
    waiting = "";
    return null;
  };

  return {
    ask: async (question) => {
      output.write(question);
      const line: string[] = [];
      for (;;) {
        if (failure !== null) throw failure;
        const taken = takeLine(line);
        if (taken !== null) {
          output.write("\n");
          return taken;
        }
        if (isClosed) throw cancelled();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () => {
      input.off("data", onData);
      input.off("end", onEnd);
      input.setRawMode(false);
      input.pause();
    },
  };
}

/** The first line of a pipe or file, without its end and otherwise unchanged. Throws when there is none, or it is not UTF-8. */
export async function readOneLine(input: AsyncIterable<string | Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (bytes.includes(0x0a) || size > MAXIMUM_CHARACTERS) break;
  }
  // Decoded as a whole: a character may span two chunks.
  const all = Buffer.concat(chunks);
  const end = all.indexOf(0x0a);
  const line = decodeLine(all.subarray(0, end === -1 ? all.length : end)).replace(/\r$/, "");
  if (line === "") throw new TerminalError("The first line of standard input has no password");
  return line;
}

function decodeLine(bytes: Uint8Array): string {
  try {
    // A cut at the limit may split a character; it is refused as too long anyway.
    return createDecoder().decode(bytes, { stream: bytes.length > MAXIMUM_CHARACTERS });
  } catch (error) {
    throw notUtf8(error);
  }
}
