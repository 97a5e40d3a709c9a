/** A field of the input that was refused, by its path in snake_case (`sources.0.key`), with what would be right. */
export type FieldErrors = Readonly<Record<string, string>>;

interface AppErrorOptions {
  fields?: FieldErrors | undefined;
  cause?: unknown;
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  retry_after_seconds?: number | undefined;
}

/**
 * An error that a caller may see: `message` is for people, `code` is stable for programs, `status` is the HTTP status.
 * Anything else that is thrown becomes `internal_error` at the edge and is logged there with the request id.
 */
export class AppError extends Error {
  readonly code: string;
  readonly status: number;
  readonly fields: FieldErrors | undefined;
  readonly retry_after_seconds: number | undefined;

  constructor(code: string, status: number, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.status = status;
    this.fields = options.fields;
    this.retry_after_seconds = options.retry_after_seconds;
  }
}

/** 422: the input was understood and refused; every refused field is named. */
export function invalidInput(fields: FieldErrors, message = "The input has errors"): AppError {
  return new AppError("invalid_input", 422, message, { fields });
}

/** 404: `what` is the kind of thing ("tracker"), `id` how it was asked for. */
export function notFound(what: string, id: string): AppError {
  return new AppError("not_found", 404, `There is no ${what} "${id.slice(0, 200)}"`);
}

/** 409: the request is right, the present state forbids it. */
export function conflict(message: string, options: AppErrorOptions = {}): AppError {
  return new AppError("conflict", 409, message, options);
}

/** 409: deleting something that others use; `users` are named so that the reader knows where to go. */
export function inUse(what: string, name: string, users: readonly string[]): AppError {
  return new AppError("in_use", 409, `The ${what} "${name}" is used by ${users.join(", ")}`);
}

export function unauthorized(message = "Sign in first"): AppError {
  return new AppError("unauthorized", 401, message);
}

export function forbidden(code: string, message: string): AppError {
  return new AppError(code, 403, message);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): AppError {
  return new AppError("too_many_requests", 429, message, { retry_after_seconds: retryAfterSeconds });
}

/** A write found the disk full. */
export function isWithoutRoom(error: unknown): error is AppError {
  return error instanceof AppError && error.code === "insufficient_storage";
}

/** The closed set of ways in which a plug-in can fail; the caller owns retries, logging and what is shown. */
export const pluginErrorCodes = [
  "unreachable",
  "unauthorized",
  "not_found",
  "rate_limited",
  "rejected",
  "malformed",
] as const;
export type PluginErrorCode = (typeof pluginErrorCodes)[number];

/** What a source, runtime, probe or notifier throws. `retry_after_ms` counts from the time of the throw. */
export class PluginError extends Error {
  readonly code: PluginErrorCode;
  readonly retry_after_ms: number | null;

  constructor(
    code: PluginErrorCode,
    message: string,
    options: { retry_after_ms?: number | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "PluginError";
    this.code = code;
    this.retry_after_ms = options.retry_after_ms ?? null;
  }
}

/** The text of anything that was thrown, bounded to 500 characters; never a stack. */
export function errorMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}
