import * as v from "valibot";
import { parseInstant } from "../../clock.ts";
import { believable, isUsableTag, linkOf } from "../forge/believable.ts";

/** A release as the forge lists it. Drafts, and releases without a publish time, never become one. */
export interface Found {
  tag: string;
  stage: "release" | "prerelease";
  /** Milliseconds UTC; null for a placeholder. */
  published_at: number | null;
  url: string | null;
  notes: string | null;
}

export const Release = v.object({
  tag_name: v.string(),
  draft: v.nullish(v.boolean(), false),
  prerelease: v.nullish(v.boolean(), false),
  published_at: v.nullish(v.string()),
  html_url: v.nullish(v.string()),
  body: v.nullish(v.string()),
});
export type Release = v.InferOutput<typeof Release>;

/** The release in our terms; null for drafts, for one without a publish time, and for names that are none. */
export function readRelease({ tag_name, draft, prerelease, published_at, html_url, body }: Release): Found | null {
  const instant = parseInstant(published_at ?? "");
  if (draft || instant === null || !isUsableTag(tag_name)) return null;
  return {
    tag: tag_name,
    stage: prerelease ? "prerelease" : "release",
    published_at: believable(instant),
    url: linkOf(html_url),
    notes: body === undefined || body === "" ? null : body,
  };
}
