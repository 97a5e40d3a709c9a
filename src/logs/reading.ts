import type { Clock } from "../clock.ts";
import { PluginError } from "../errors.ts";
import { type Message, say, says } from "../messages/message.ts";
import type { LogLine, LogPart, LogReading } from "../runtimes/logs.ts";

/** For the lines that a log has already. */
const wholeMs = 8_000;
/** Lines that are searched for those that a view has missed; for all, the engine would read its whole file. */
export const maxMissed = 2_000;

/** What a log has now, without following it. Throws once that takes too long. */
export async function readPresent(
  part: Pick<LogPart, "read">,
  wanted: Pick<LogReading, "tail" | "since" | "signal">,
  clock: Clock,
): Promise<readonly LogLine[]> {
  const late = new AbortController();
  const over = new AbortController();
  clock.sleep(wholeMs, over.signal).then(
    () => late.abort(),
    () => undefined, // It was read in time.
  );
  const lines: LogLine[] = [];
  try {
    const signal = AbortSignal.any([wanted.signal, late.signal]);
    for await (const taken of part.read({ ...wanted, follow: false, signal })) {
      if (signal.aborted) break;
      for (const line of taken) lines.push(line);
      // It may have been asked for fewer.
      if (lines.length > wanted.tail * 2) lines.splice(0, lines.length - wanted.tail);
    }
  } finally {
    over.abort();
  }
  wanted.signal.throwIfAborted();
  if (late.signal.aborted) throw new PluginError("unreachable", say("logs.too_slow", { seconds: wholeMs / 1000 }));
  return lines.slice(-wanted.tail);
}

/** Whether the failure means that this log may not or cannot be read at all. */
export function isRefusal(error: PluginError): boolean {
  return error.code === "unauthorized" || says(error.said, "logs.driver_unreadable");
}

/** Why a container that does not run yet has no log to follow. */
export const startingUp: Message = say("logs.starting");
