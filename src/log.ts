import type { Clock } from "./clock.ts";
import { toIso } from "./clock.ts";
import { visibleText } from "./visible-text.ts";

export const logLevels = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Applied at once: the setting changes without a restart. */
  setLevel(level: LogLevel): void;
}

/** Removes secrets from outgoing text; see `secrets/redaction.ts`. */
export type Redact = (text: string) => string;

interface LogOptions {
  level: LogLevel;
  format: "text" | "json";
  clock: Clock;
  redact: Redact;
  write?: (line: string) => void;
}

/** The rest of a longer message rarely helps, and upstream text may have any length. */
const maxErrorLength = 2_000;

function describeError(error: Error, redact: Redact): { name: string; message: string } {
  // The error of a failed query repeats the statement with all its values, including hashes and bodies; its cause has the reason.
  const said = "params" in error && error.cause instanceof Error ? error.cause : error;
  // Redacted before it is cut, because the cut could leave an unrecognisable part of a secret.
  const message = redact(said.message);
  const { name } = said;
  return { name, message: message.length > maxErrorLength ? `${message.slice(0, maxErrorLength - 1)}…` : message };
}

function fieldText(value: unknown, redact: Redact): string {
  if (value instanceof Error) {
    const { name, message } = describeError(value, redact);
    return JSON.stringify(`${name}: ${message}`);
  }
  if (typeof value === "string") return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "undefined";
}

/** A log of static messages with fields, one line each; every line passes `redact` at the sink, whoever wrote it. */
export function createLog(options: LogOptions): Log {
  let threshold = logLevels.indexOf(options.level);
  const { redact } = options;
  const write = options.write ?? ((line: string) => console.log(line));
  const line = (level: LogLevel, message: string, fields: LogFields = {}) => {
    if (logLevels.indexOf(level) < threshold) return;
    const at = toIso(options.clock.now());
    const head = { at, level, message };
    const text =
      options.format === "json"
        ? // `head` comes first to be read first, and again last so that no field overwrites it.
          JSON.stringify({ ...head, ...fields, ...head }, (_key, value: unknown) =>
            value instanceof Error ? describeError(value, redact) : value,
          )
        : [
            at,
            level.toUpperCase().padEnd(7),
            message,
            ...Object.entries(fields).map(([k, v]) => `${k}=${fieldText(v, redact)}`),
          ].join(" ");
    // Upstream text must not forge lines of the log.
    write(visibleText(redact(text)));
  };
  return {
    debug: (message, fields) => line("debug", message, fields),
    info: (message, fields) => line("info", message, fields),
    warning: (message, fields) => line("warning", message, fields),
    error: (message, fields) => line("error", message, fields),
    setLevel: (level) => {
      threshold = logLevels.indexOf(level);
    },
  };
}
