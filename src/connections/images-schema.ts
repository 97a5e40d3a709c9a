import * as v from "valibot";
import { Instant, NullableInstant } from "../forms/inputs.ts";
import type { ListShape } from "../forms/page.ts";

/**
 * Why it is listed: kept by us for snapshots that were deleted; from a repository that an executor of the connection updates; without any
 * tag; or needed by a snapshot, so that it cannot be removed.
 */
export const imageReasons = ["kept", "repository", "untagged", "needed"] as const;
export type ImageReason = (typeof imageReasons)[number];

/** Sorted by reason, the largest of one reason come first. */
export const imageList: ListShape = {
  sorts: ["reason", "reference", "time", "size"],
  filters: { reason: imageReasons },
  searched: "Part of a tag, a digest, the ID, or the name of an executor whose snapshot needs it",
};

export const UnusedImageView = v.object({
  id: v.string(),
  /** Its tags and digests, without the names that Tidemark keeps images by. */
  references: v.array(v.string()),
  size_bytes: v.number(),
  created_at: NullableInstant,
  reason: v.picklist(imageReasons),
  /** The snapshots that need it, newest first. */
  named_by: v.array(
    v.object({
      snapshot_id: v.string(),
      executor_id: v.string(),
      executor: v.string(),
      is_locked: v.boolean(),
      created_at: Instant,
    }),
  ),
});
export type UnusedImageView = v.InferOutput<typeof UnusedImageView>;

/** Its tags; without any, the digests it was pulled by. */
export function namesOf({ references }: Pick<UnusedImageView, "references">): readonly string[] {
  const tags = references.filter((reference) => !reference.includes("@"));
  return tags.length > 0 ? tags : references;
}

export const UnusedImageList = v.object({
  items: v.array(UnusedImageView),
  next_cursor: v.nullable(v.string()),
  /** Other images that no container uses, unrelated to Tidemark: not listed. */
  others: v.number(),
  listed_at: Instant,
});
