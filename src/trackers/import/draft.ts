import type { Message } from "../../messages/types.ts";
import type { ChannelType } from "../schema.ts";

/** A source from a pasted text, as a tracker's input; its schema validates it later. */
export interface SourceDraft {
  kind: string;
  config: Readonly<Record<string, string>>;
  channels: readonly ChannelDraft[];
}

export interface ChannelDraft {
  /** When it differs from the type's name. */
  name?: string;
  type: ChannelType;
  release_type?: "release" | "prerelease";
  include_pattern?: string;
  exclude_pattern?: string;
}

/** Remarks to read before creating; each has a text in the interface. */
export const remarkCodes = [
  "digest_dropped",
  "line_kept",
  "variant_kept",
  "tag_followed",
  "tag_unknown",
  "series_unknown",
  "pattern_refused",
  "credential_missing",
  "page_source_skipped",
  "channel_disabled",
] as const;
export type RemarkCode = (typeof remarkCodes)[number];

export interface Remark {
  code: RemarkCode;
  /** What it is about: a tag, a pattern, an address. */
  subject: string;
}

type Settings = Readonly<Record<string, string | number | boolean>>;

/** A tracker that a text suggests. */
export interface Draft {
  /** Suggested name; made valid and unique later. */
  name: string;
  description?: string;
  is_enabled?: boolean;
  sources: readonly SourceDraft[];
  settings?: Settings;
  /** What runs, as far as the text says: `postgres:16-alpine`. */
  runs?: string;
  /** Its tag, if it has one. */
  tag?: string | null;
  /** Narrower lines that it could stay on instead. */
  lines?: readonly string[];
  /** Its tag names a line and moves from version to version. */
  names_line?: boolean;
  /** A question must be answered first; it is in a remark. */
  needs_answer?: boolean;
  /** Another way to track it, for the person to choose instead. */
  alternative?: { sources: readonly SourceDraft[]; settings: Settings };
  /** Its place in the text, for people: `services.web`, `line 3`. */
  found_in: string;
  remarks: readonly Remark[];
}

/** A part of the text that gives no tracker, and why. */
export interface Skipped {
  found_in: string;
  reason: Message;
}

export interface Reading {
  drafts: readonly Draft[];
  skipped: readonly Skipped[];
  /** Variables without a value that left something open. */
  unset?: readonly string[];
}

/** One pattern that matches when any of these does. */
export function anyOf(patterns: readonly string[]): string {
  const [first, ...more] = patterns;
  if (first === undefined) return "";
  return more.length === 0 ? first : patterns.map((pattern) => `(?:${pattern})`).join("|");
}
