import * as v from "valibot";
import { NullableInstant } from "../../forms/inputs.ts";
import { MessageSchema } from "../../messages/schema.ts";
import { ChannelName } from "../schema.ts";

const VersionName = v.pipe(v.string(), v.maxLength(256));

export const NotesQuery = v.object({
  from: v.optional(v.pipe(VersionName, v.description("The running version or tag; its own notes are left out"))),
  to: v.optional(
    v.pipe(VersionName, v.description("The version or tag to update to; the channel's latest if omitted")),
  ),
  channel: v.optional(v.pipe(ChannelName, v.description("A release channel's name"))),
  source: v.optional(v.pipe(v.string(), v.maxLength(50), v.description("A source's key"))),
});

const VersionNotes = v.object({
  version: v.string(),
  tag: v.string(),
  /** The release that the notes belong to. */
  release_id: v.string(),
  source_key: v.string(),
  published_at: NullableInstant,
  url: v.nullable(v.string()),
  /** Raw text from upstream, never trusted; null when there is none. */
  notes: v.nullable(v.string()),
  /** Why the changelog has none. */
  notes_error: v.nullable(v.string()),
  notes_error_data: v.nullable(MessageSchema),
  /** Lines of the notes that announce required action. */
  breaking_changes: v.array(v.object({ line: v.number(), text: v.string() })),
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
