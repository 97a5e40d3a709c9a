import * as v from "valibot";
import { NullableInstant } from "../../forms/inputs.ts";
import { MessageSchema } from "../../messages/schema.ts";
import { BehindView, ChannelName } from "../schema.ts";

const VersionName = v.pipe(v.string(), v.maxLength(256));

export const NotesQuery = v.object({
  from: v.optional(v.pipe(VersionName, v.description("The running version or tag; its own notes are left out"))),
  to: v.optional(
    v.pipe(VersionName, v.description("The version or tag to update to; the channel's latest if omitted")),
  ),
  channel: v.optional(v.pipe(ChannelName, v.description("A release channel's name"))),
  source: v.optional(v.pipe(v.string(), v.maxLength(50), v.description("A source's key"))),
});

/**
 * What is known of a version's notes. `none`: its sources were read since it came out and have none. `unknown`: a source that may have some
 * was not read since, does not reach back so far, or failed. `no_source`: the tracker has no source with release notes.
 */
const noteStates = ["published", "none", "unknown", "no_source"] as const;
export type NotesState = (typeof noteStates)[number];

/** Pages for people, at most one of each source. */
const Links = v.array(
  v.object({
    source_key: v.pipe(v.string(), v.description("The source whose page it is")),
    url: v.pipe(v.string(), v.description("http or https, formed from the source's configuration")),
  }),
);

const VersionNotes = v.object({
  version: v.string(),
  tag: v.string(),
  /** The release that the notes belong to. */
  release_id: v.string(),
  source_key: v.string(),
  published_at: NullableInstant,
  url: v.pipe(v.nullable(v.string()), v.description("As upstream names it, unchecked; `links` are safe to show")),
  links: v.pipe(Links, v.description("Its pages, in the order of the sources")),
  /** Raw text from upstream, never trusted; null when there is none. */
  notes: v.nullable(v.string()),
  notes_state: v.pipe(
    v.picklist(noteStates),
    v.description(
      "`none`: none were published. `unknown`: not read yet, or not readable. `no_source`: the tracker has no source with release notes",
    ),
  ),
  /** Why the changelog has none. */
  notes_error: v.nullable(v.string()),
  notes_error_data: v.nullable(MessageSchema),
  breaking_changes: v.pipe(
    v.array(v.object({ line: v.number(), text: v.string() })),
    v.description(
      "Lines of the notes, counted from 1, that announce required action or lost functionality; at most 50",
    ),
  ),
  security_fixes: v.pipe(
    v.array(v.object({ line: v.number(), text: v.string(), ids: v.array(v.string()) })),
    v.description("Lines about closed security holes, with the CVE and GHSA identifiers in them; at most 50"),
  ),
});
export type VersionNotes = v.InferOutput<typeof VersionNotes>;

/** The notes of all versions between two. */
export const NotesView = v.object({
  tracker: v.string(),
  from: v.nullable(v.string()),
  to: v.nullable(v.string()),
  /** `down`: `to` is older, and these are the notes of what a downgrade gives up. `unknown`: the two cannot be compared. */
  direction: v.picklist(["up", "down", "same", "unknown"]),
  /** Newest first; at most 50, and 1 MiB of notes. */
  versions: v.array(VersionNotes),
  /** Older ones that are left out. */
  omitted_count: v.number(),
});
export type NotesView = v.InferOutput<typeof NotesView>;

/** One service's move from one version to another, in the terms of its tracker. */
export interface UpdateStep {
  tracker: string;
  source: string;
  channel: string;
  from: string;
  to: string;
}

/** What the notes announce of the versions that an update of one tracker's version passes. */
export interface BreakingStep {
  tracker: string;
  /** Those that announce breaking changes. */
  versions: readonly VersionNotes[];
  /** Whether the notes of all of them are known: without, others may announce more. */
  notes: "read" | "unread" | "no_source";
}

const ComparedVersion = v.object({
  version: v.string(),
  published_at: v.pipe(NullableInstant, v.description("The earliest time that a source published it")),
  links: v.pipe(Links, v.description("Its pages, in the order of the sources")),
  size_bytes: v.pipe(
    v.nullable(v.number()),
    v.description("For an image: its compressed download size; null until its manifest has been read"),
  ),
  size_platform: v.pipe(v.nullable(v.string()), v.description("The platform whose image has this size")),
});
export type ComparedVersion = v.InferOutput<typeof ComparedVersion>;

/** What changes from one version to another. */
export const ComparisonView = v.object({
  ...NotesView.entries,
  from_version: v.pipe(v.nullable(ComparedVersion), v.description("Null if the tracker does not know it")),
  to_version: v.pipe(v.nullable(ComparedVersion), v.description("Null if the tracker does not know it")),
  distance: v.pipe(
    v.nullable(BehindView),
    v.description("From the older to the newer one; null if they are equal or cannot be compared"),
  ),
  comparison_pages: v.pipe(Links, v.description("Where upstream itself compares the older with the newer one")),
});
export type ComparisonView = v.InferOutput<typeof ComparisonView>;
