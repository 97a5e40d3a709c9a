import { say } from "../messages/message.ts";
import { formatImageReference, ImageReferenceError, isImageId, parseImageReference } from "./image-reference.ts";

const imagePolicies = ["keep_name", "use_tracker"] as const;
/** `keep_name`: the container's own registry and repository with the new tag; `use_tracker`: the tracker's. */
export type ImagePolicy = (typeof imagePolicies)[number];

const referenceModes = ["tag", "digest"] as const;
export type ReferenceMode = (typeof referenceModes)[number];

export interface DesiredImageRequest {
  /** The target's current reference. */
  current: string;
  /** The image that the tracker watches, without tag and digest. */
  tracker: string;
  tag: string;
  /** The digest of the tag in the tracker's registry; null when unknown. */
  digest: string | null;
  policy: ImagePolicy;
  mode: ReferenceMode;
}

export interface DesiredImage {
  /** The target's new reference: `registry/repository:tag` or `registry/repository@digest`. */
  reference: string;
  /** What to pull: `registry/repository@digest`; by tag when the digest is unknown or belongs to another repository. */
  pull: string;
  /** The digest that must run afterwards; null when the tag's digest in this repository is unknown. */
  digest: string | null;
}

/**
 * The reference that an executor's policy and mode make of a release. It depends only on the registry and repository of the current
 * reference, never on its tag or digest, so that applying it twice gives the same result and switching the mode back restores the original.
 * Throws ImageReferenceError.
 */
export function desiredReference(request: DesiredImageRequest): DesiredImage {
  const tracker = parseImageReference(request.tracker);
  if (request.policy === "keep_name" && isImageId(request.current)) {
    throw new ImageReferenceError(say("images.no_name_to_keep"));
  }
  const name = request.policy === "keep_name" ? parseImageReference(request.current) : tracker;
  const isSameRepository = name.registry === tracker.registry && name.repository === tracker.repository;
  const bare = { scheme: name.scheme, registry: name.registry, repository: name.repository };
  // Both are parsed again as parts of a reference, so that a malformed tag or digest never reaches an engine.
  const byTag = formatImageReference(parseImageReference(formatImageReference({ ...bare, tag: request.tag })));
  const byDigest =
    request.digest === null
      ? null
      : formatImageReference(parseImageReference(formatImageReference({ ...bare, digest: request.digest })));
  if (request.mode === "digest") {
    if (byDigest === null) {
      throw new ImageReferenceError(say("images.digest_unknown", { image: byTag }));
    }
    return { reference: byDigest, pull: byDigest, digest: request.digest };
  }
  // Another repository may have another build under the same tag: only the tag is certain there.
  const isPinned = byDigest !== null && isSameRepository;
  return { reference: byTag, pull: isPinned ? byDigest : byTag, digest: isPinned ? request.digest : null };
}

/** An image that a target has or shall have. */
export interface ImageState {
  reference: string;
  /** The registry's digest; null when unknown (a digest in the reference counts too). */
  digest: string | null;
}

/**
 * How two images differ:
 * `current`: same name, same way of naming, same content; `new_digest`: same tag, other content (a republish); `other_mode`: same
 * content, by tag here and by digest there; `other_tag`: same content under another tag; `other_version`: other content, other
 * tag or digest; `other_name`: another registry or repository; `unknown`: same tag, and a digest is unknown.
 */
export type ImageDifference =
  | "current"
  | "new_digest"
  | "other_mode"
  | "other_tag"
  | "other_version"
  | "other_name"
  | "unknown";

/** Compares a target's image with the desired one; throws ImageReferenceError when `wanted` is malformed. */
export function compareImages(found: ImageState, wanted: ImageState): ImageDifference {
  const right = parseImageReference(wanted.reference);
  if (isImageId(found.reference)) return "other_name";
  const left = parseImageReference(found.reference);
  if (left.registry !== right.registry || left.repository !== right.repository) return "other_name";
  const isPinnedLeft = left.digest !== null;
  const isPinnedRight = right.digest !== null;
  const isSameMode = isPinnedLeft === isPinnedRight;
  const isSameTag = (left.tag ?? "latest") === (right.tag ?? "latest");
  const leftDigest = left.digest ?? found.digest;
  const rightDigest = right.digest ?? wanted.digest;
  if (leftDigest === null || rightDigest === null) return isSameMode && isSameTag ? "unknown" : "other_version";
  if (leftDigest !== rightDigest) return isSameMode && !isPinnedLeft && isSameTag ? "new_digest" : "other_version";
  if (!isSameMode) return "other_mode";
  return isPinnedLeft || isSameTag ? "current" : "other_tag";
}
