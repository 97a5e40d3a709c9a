import type { ReadStream } from "node:tty";
import { AppError } from "../errors.ts";

// Longer input is refused by the password's own rules; this only bounds the memory of a pipe without a line's end.
const MAXIMUM_CHARACTERS = 8192;

export interface HiddenPrompt {
  /** Prints the question and reads one line without showing it. Throws when the terminal is closed or Ctrl-C is pressed. */
  ask(question: string): Promise<string>;
  /** Gives the terminal back as it was. */
  close(): void;
}

function cancelled(): AppError {
  return new AppError("cancelled", 400, "The input was cancelled");
}

/** Reads from a terminal without echo; null when the input is none. */
export function createHiddenPrompt(input: ReadStream, output: NodeJS.WritableStream): HiddenPrompt | null {
  if (!input.isTTY) return null;
  input.setRawMode(true);
  input.setEncoding("utf8");
  // What was typed or pasted beyond the line's end belongs to the next question.
  let waiting = "";
  let isClosed = false;
  let wake: () => void = () => undefined;
  const onData = (chunk: string | Buffer) => {
    waiting += chunk.toString();
    wake();
  };
  const onEnd = () => {
    isClosed = true;
    wake();
  };
  input.on("data", onData);
  input.on("end", onEnd);
  input.resume();

  /** Takes characters until the line ends; null when more must be typed. */
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

/** The first line of a pipe or file, without its end and otherwise as it is. Throws when there is none. */
export async function readOneLine(input: AsyncIterable<string | Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (bytes.includes(0x0a) || size > MAXIMUM_CHARACTERS) break;
  }
  // Decoded as a whole: a character may lie across two chunks.
  const line = Buffer.concat(chunks).toString("utf8").split("\n")[0]?.replace(/\r$/, "") ?? "";
  if (line === "") throw new AppError("no_input", 400, "Standard input has no password in its first line");
  return line;
}
