import * as v from "valibot";
import { Instant, NullableInstant } from "../forms/inputs.ts";

/** Why it is offered: kept by us for snapshots; from a repository that an executor of the connection updates; without any tag. */
const imageReasons = ["kept", "repository", "untagged"] as const;
export type ImageReason = (typeof imageReasons)[number];

export const UnusedImageView = v.object({
  id: v.string(),
  /** Its tags and digests, without the names that Tidemark keeps images by. */
  references: v.array(v.string()),
  size_bytes: v.number(),
  created_at: NullableInstant,
  reason: v.picklist(imageReasons),
  /** The snapshots that need it, newest first; an image can only be removed when none does. */
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

export const UnusedImageList = v.object({
  items: v.array(UnusedImageView),
  /** Other images that no container uses and that are unrelated to Tidemark: not listed. */
  others: v.number(),
  listed_at: Instant,
});
export type UnusedImageList = v.InferOutput<typeof UnusedImageList>;
