import type { Message } from "../../messages/types.ts";
import type { ChannelType } from "../schema.ts";

/** What a pasted text says of one source, in the terms of a tracker's input; judged by its schema afterwards. */
export interface SourceDraft {
  kind: string;
  config: Readonly<Record<string, string>>;
  channels: readonly ChannelDraft[];
}

export interface ChannelDraft {
  /** Where it is not called by its type. */
  name?: string;
  type: ChannelType;
  release_type?: "release" | "prerelease";
  include_pattern?: string;
  exclude_pattern?: string;
}

/** Remarks that a person should read before creating; each is a text of the interface. */
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

/** One tracker as a text suggests it. */
export interface Draft {
  /** What to call it; made valid and unique afterwards. */
  name: string;
  description?: string;
  is_enabled?: boolean;
  sources: readonly SourceDraft[];
  settings?: Settings;
  /** What runs, as far as the text says: `postgres:16-alpine`. */
  runs?: string;
  /** The tag of it, where it has one. */
  tag?: string | null;
  /** Something has to be answered first, which a remark asks for. */
  needs_answer?: boolean;
  /** Another way to follow it, which a person may choose instead. */
  alternative?: { sources: readonly SourceDraft[]; settings: Settings };
  /** Where in the text it stands, for people: `services.web`, `line 3`. */
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
  /** Variables without a value that something was left open for. */
  unset?: readonly string[];
}

/** Several patterns of which one must match, as one. */
export function anyOf(patterns: readonly string[]): string {
  const [first, ...more] = patterns;
  if (first === undefined) return "";
  return more.length === 0 ? first : patterns.map((pattern) => `(?:${pattern})`).join("|");
}
