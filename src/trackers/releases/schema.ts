import * as v from "valibot";
import { Instant, NullableInstant } from "../../forms/inputs.ts";
import { PageQuery } from "../../forms/page.ts";
import { MessageSchema } from "../../messages/schema.ts";
import { maturities } from "../../versions/maturity.ts";
import { ChannelName, RemarkView } from "../schema.ts";

const WebUrl = v.pipe(
  v.nullable(v.string()),
  v.description(
    "Its web page at this source, http or https, formed from the source's configuration; null if there is none",
  ),
);

/** For lists of releases or versions. */
export const ReleaseQuery = v.object({
  ...PageQuery.entries,
  channel: v.optional(v.pipe(ChannelName, v.description("A release channel's name"))),
  source: v.optional(v.pipe(v.string(), v.maxLength(50), v.description("A source's key"))),
});

export const ReleaseView = v.object({
  id: v.string(),
  tracker: v.string(),
  source_key: v.string(),
  version: v.string(),
  /** The common name in all sources of the tracker: see the versions of a tracker. */
  display_version: v.string(),
  tag: v.string(),
  /** The version behind a moving tag such as `latest`: the most specific tag of the same build, or the version in the image's label. */
  stands_for: v.nullable(v.string()),
  stage: v.picklist(["release", "prerelease", "tag"]),
  /** How stable the version is, by its name and by upstream's data. */
  maturity: v.picklist(maturities),
  /** Commit or digest; null until it is resolved. */
  revision: v.nullable(v.string()),
  previous_revision: v.nullable(v.string()),
  published_at: NullableInstant,
  first_observed_at: Instant,
  republished_at: NullableInstant,
  /** Names of the channels of its source that take it. */
  channels: v.array(v.string()),
  /** Those of them whose latest it is. */
  latest_in: v.array(v.string()),
  /** Why it is not the newest version of the first of these; null when it is, and for other releases. */
  remark: v.nullable(RemarkView),
  url: v.pipe(v.nullable(v.string()), v.description("As upstream names it, unchecked; `web_url` is safe to show")),
  web_url: WebUrl,
  has_notes: v.boolean(),
  /** Why the changelog has no notes; null when it has or was not read. */
  notes_error: v.nullable(v.string()),
  notes_error_data: v.nullable(MessageSchema),
  /** For a chart: its application's version. */
  app_version: v.nullable(v.string()),
  /** For a chart: upstream marked it as deprecated. */
  is_deprecated: v.boolean(),
  /** For an image: the commit and version in its labels. */
  source_revision: v.nullable(v.string()),
  labelled_version: v.nullable(v.string()),
  size_bytes: v.pipe(
    v.nullable(v.number()),
    v.description("For an image: its compressed download size; null until its manifest has been read"),
  ),
  size_platform: v.pipe(
    v.nullable(v.string()),
    v.description("The platform whose image has this size, such as `linux/amd64`"),
  ),
});
export type ReleaseView = v.InferOutput<typeof ReleaseView>;

/** One version with all the sources that have it. */
export const VersionView = v.object({
  /** Common name: without `v`; a chart beside other sources takes its application's version. */
  version: v.string(),
  /** The earliest time of any source, or else when it was first seen. */
  published_at: Instant,
  /** False when the time is only when it was first seen. */
  is_published: v.boolean(),
  channels: v.array(v.string()),
  latest_in: v.array(v.string()),
  /** In the order of the sources. */
  releases: v.array(ReleaseView),
  /** Tags among them that name the same image as the previous one and were found together with it. */
  aliases: v.array(v.string()),
  /** Keys of the sources that do not have it, or not in a channel. */
  missing: v.array(v.string()),
  /** Keys of the sources that were not read since it came out, and may have it. */
  unread: v.array(v.string()),
  /** Whether the image's label names the commit of the git tag. */
  build: v.picklist(["matches", "differs", "unknown"]),
});
export type VersionView = v.InferOutput<typeof VersionView>;

/** One release with its notes: raw text from upstream, never trusted. */
export const ReleaseDetailView = v.object({ ...ReleaseView.entries, notes: v.nullable(v.string()) });
export type ReleaseDetailView = v.InferOutput<typeof ReleaseDetailView>;
