import type { Clock } from "./clock.ts";
import { TerminalError } from "./errors.ts";
import type { Log } from "./log.ts";

/** How often a step in progress is reported. */
const lookMs = 10_000;
/** A step that still waits then would wait forever: for a server that does not respond, or a lock that is never released. */
const maxLooks = 30;

/** Runs one step of the start, named by what it waits for: "the database". */
export type StartStep = <T>(waitsFor: string, work: () => Promise<T>) => Promise<T>;

/**
 * Reports a hanging start: each step is logged at debug level, reported as a warning every ten seconds, and given up after five minutes of
 * waiting. Only looks count, not the time between them: a busy step that blocks the process (the copy before an upgrade) may take as long
 * as it needs.
 */
export function startSteps({ clock, log }: { clock: Clock; log: Log }): StartStep {
  return async (waitsFor, work) => {
    log.debug("Start step begins", { step: waitsFor });
    const ended = new AbortController();
    const overdue = async (): Promise<never> => {
      for (let look = 1; look <= maxLooks; look += 1) {
        await clock.sleep(lookMs, ended.signal);
        log.warning("Start is still waiting", { step: waitsFor, waited_ms: look * lookMs });
      }
      const waitedSeconds = (maxLooks * lookMs) / 1000;
      throw new TerminalError(
        `The start waited ${waitedSeconds} s for ${waitsFor} and gave up; see whether its disk or server answers, then start again`,
      );
    };
    try {
      return await Promise.race([work(), overdue()]);
    } finally {
      ended.abort(new Error("The step has ended"));
    }
  };
}
