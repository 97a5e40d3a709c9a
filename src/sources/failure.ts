import * as v from "valibot";
import { PluginError, type PluginErrorCode } from "../errors.ts";
import { parseOr } from "../forms/issues.ts";
import { type Message, say } from "../messages/message.ts";
import { codeOfStatus as ofStatus } from "../net/code-of-status.ts";

/** Text from elsewhere, bounded and on one line: control characters could forge lines or colours. */
export function oneLine(text: string, characters: number): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length > characters ? `${line.slice(0, characters - 1)}…` : line;
}

/** What was attempted, and why it failed: `Could not list the tags of "ghcr.io/a/b": the response was 404`. */
export function failure(code: PluginErrorCode, action: Message, reason: Message, cause?: unknown): PluginError {
  return new PluginError(code, say("sources.failed", { action, reason }), { cause });
}

/** What a refusal may mean beyond upstream's own words; null if they say it all. */
export type Explain = (status: number) => Message | null;

interface AccessTerms {
  has_credential: boolean;
  /** Said without a credential: it may be private, or the name wrong. */
  hidden: Message;
  /** Said with one: the name may be wrong, or the credential lacks what this kind of upstream needs. */
  unreadable: Message;
  /** The statuses that hide what a caller may not read, without and with a credential. */
  hiding: { anonymous: readonly number[]; signed_in: readonly number[] };
}

/** Upstreams respond alike for unreadable and missing things, so the message names both. */
export function explainAccess({ has_credential, hidden, unreadable, hiding }: AccessTerms): Explain {
  return (status) => {
    if (!has_credential) return hiding.anonymous.includes(status) ? hidden : null;
    if (hiding.signed_in.includes(status)) return unreadable;
    return status === 401 ? say("sources.credential_rejected") : null;
  };
}

/** The reason with what it may mean. */
export function explained(reason: Message, meaning: Message | null): Message {
  return meaning === null ? reason : say("phrases.joined", { items: [reason, meaning] });
}

/** By the status of an unsuccessful response. */
export function codeOfStatus(status: number): PluginErrorCode {
  return status === 410 ? "not_found" : ofStatus(status);
}

export function isWebPage(response: Response, body = ""): boolean {
  return /^(?:text\/html|application\/xhtml)/i.test(response.headers.get("content-type") ?? "") || /^\s*</.test(body);
}

/** The parsed configuration of a source. Throws `rejected` with the first field that has an error. */
export function parseConfig<const S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  return parseOr(schema, input, (field, cause) => {
    return new PluginError("rejected", say("sources.config_error", { field, cause }));
  });
}

/** The parsed credential of a source; null without one. A refusal says only `wanted`, because the issue would quote the secret. */
export function parseSecret<const S extends v.GenericSchema>(
  schema: S,
  secret: unknown,
  wanted: Message,
): v.InferOutput<S> | null {
  if (secret === null) return null;
  const parsed = v.safeParse(schema, secret);
  if (!parsed.success) throw new PluginError("rejected", wanted);
  return parsed.output;
}
