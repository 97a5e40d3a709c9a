import type { Catalogue } from "./messages/catalogue.ts";
import { inEnglish, type Message, plain, say, tellAll } from "./messages/message.ts";

/** Refused fields of the input by path in snake_case (`sources.0.key`), with what would be valid. */
export type FieldErrors = Readonly<Record<string, Message>>;

interface AppErrorOptions {
  fields?: FieldErrors | undefined;
  cause?: unknown;
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  retry_after_seconds?: number | undefined;
}

/**
 * An error for the caller: `said` is for people (`message` in English), `code` is stable for programs, `status` is the HTTP status.
 * Anything else that is thrown becomes `internal_error` at the edge and is logged there with the request id.
 */
export class AppError extends Error {
  readonly code: string;
  readonly status: number;
  readonly said: Message;
  /** In English; the same fields as `field_messages`. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  readonly field_messages: FieldErrors | undefined;
  readonly retry_after_seconds: number | undefined;

  constructor(code: string, status: number, said: Message, options: AppErrorOptions = {}) {
    super(inEnglish(said), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.said = said;
    this.code = code;
    this.status = status;
    this.field_messages = options.fields;
    this.fields = options.fields === undefined ? undefined : tellAll(options.fields);
    this.retry_after_seconds = options.retry_after_seconds;
  }
}

/** 422: the input was understood and refused; every refused field is named. */
export function invalidInput(fields: FieldErrors, message: Message = say("request.input_errors")): AppError {
  return new AppError("invalid_input", 422, message, { fields });
}

type Thing = keyof Catalogue["thing"];

/** `what` is the kind of thing ("tracker"), `id` the requested id or name. */
export function noSuch(what: Thing, id: string): Message {
  return say("request.not_found", { what: say(`thing.${what}`), id: id.slice(0, 200) });
}

/** 404, see `noSuch`. */
export function notFound(what: Thing, id: string): AppError {
  return new AppError("not_found", 404, noSuch(what, id));
}

/** 422: names are unique among things of a kind. */
export function nameTaken(what: Thing, name: string): AppError {
  return invalidInput({ name: say("request.name_taken", { what: say(`thing.${what}`), name }) });
}

/** 409: the request is valid, but the current state forbids it. */
export function conflict(message: Message, options: AppErrorOptions = {}): AppError {
  return new AppError("conflict", 409, message, options);
}

/** 409: deleting something that others use; `users` names them for the reader. */
export function inUse(what: Thing, name: string, users: readonly Message[]): AppError {
  return new AppError("in_use", 409, say("request.in_use", { what: say(`thing.${what}`), name, users }));
}

export function unauthorized(): AppError {
  return new AppError("unauthorized", 401, say("request.sign_in_first"));
}

export function forbidden(code: string, message: Message): AppError {
  return new AppError(code, 403, message);
}

export function tooManyRequests(message: Message, retryAfterSeconds: number): AppError {
  return new AppError("too_many_requests", 429, message, { retry_after_seconds: retryAfterSeconds });
}

/** A write found the disk full. */
export function isWithoutRoom(error: unknown): error is AppError {
  return error instanceof AppError && error.code === "insufficient_storage";
}

/** All ways in which a plug-in can fail; the caller handles retries, logging and messages. */
const pluginErrorCodes = ["unreachable", "unauthorized", "not_found", "rate_limited", "rejected", "malformed"] as const;
export type PluginErrorCode = (typeof pluginErrorCodes)[number];

interface PluginErrorOptions {
  /** Counts from the time of the throw. */
  retry_after_ms?: number | null;
  /** What was refused of the input: a member of `config` or `secret`, such as `secret.token`. */
  field?: string | null;
  /** A text that helps to fix it, such as a manifest that grants the missing rights. */
  remedy?: string | null;
  cause?: unknown;
}

/** Thrown by sources, runtimes, probes and notifiers. */
export class PluginError extends Error {
  readonly code: PluginErrorCode;
  readonly said: Message;
  readonly retry_after_ms: number | null;
  readonly field: string | null;
  readonly remedy: string | null;

  constructor(code: PluginErrorCode, said: Message, options: PluginErrorOptions = {}) {
    super(inEnglish(said), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PluginError";
    this.said = said;
    this.code = code;
    this.retry_after_ms = options.retry_after_ms ?? null;
    this.field = options.field ?? null;
    this.remedy = options.remedy ?? null;
  }
}

/** Invalid or unreadable input with its reason; the caller shows it at a field or within a message of its own. */
export class SaidError extends Error {
  readonly said: Message;

  constructor(said: Message, cause?: unknown) {
    super(inEnglish(said), cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.said = said;
  }
}

/** A message of a start or command for the terminal, after which it exits; English only, like the terminal. */
export class TerminalError extends Error {}

/** The message of anything thrown; foreign text is limited to 500 characters. */
export function saidBy(error: unknown): Message {
  return error instanceof AppError || error instanceof PluginError || error instanceof SaidError
    ? error.said
    : plain(errorMessage(error));
}

/** The same; of an input with errors, the first one. */
export function reasonOf(error: unknown): Message {
  const [first] =
    error instanceof AppError && error.code === "invalid_input" ? Object.values(error.field_messages ?? {}) : [];
  return first ?? saidBy(error);
}

/** The text of anything thrown, limited to 500 characters; never a stack. */
export function errorMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}
