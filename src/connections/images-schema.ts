import * as v from "valibot";
import { Instant, NullableInstant } from "../forms/inputs.ts";

/** Why it is offered: named by us for snapshots; of a repository that an executor of the connection updates; without any tag. */
const imageReasons = ["kept", "repository", "untagged"] as const;
export type ImageReason = (typeof imageReasons)[number];

export const UnusedImageView = v.object({
  id: v.string(),
  /** Its tags and digests, without the names that Tidemark keeps images by. */
  references: v.array(v.string()),
  size_bytes: v.number(),
  created_at: NullableInstant,
  reason: v.picklist(imageReasons),
  /** The snapshots that need it, the newest first; only one that none needs can be removed. */
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
  /** Further images that no container uses and that Tidemark has nothing to do with: they are not listed. */
  others: v.number(),
  listed_at: Instant,
});
export type UnusedImageList = v.InferOutput<typeof UnusedImageList>;
