import * as v from "valibot";
import { parseInstant } from "../../clock.ts";

/** A release as the forge lists it. Drafts, and releases without a publish time, never become one. */
export interface Found {
  tag: string;
  stage: "release" | "prerelease";
  /** Milliseconds UTC; null for a placeholder. */
  published_at: number | null;
  url: string | null;
  notes: string | null;
}

/** Longer names match no pattern and are not stored, so they must not be waited for either. */
const maxTagCharacters = 256;
/** Before this there was neither forge: a placeholder that a migration left behind. */
const earliestPublishTime = 946_684_800_000;

export const Release = v.object({
  tag_name: v.string(),
  draft: v.nullish(v.boolean(), false),
  prerelease: v.nullish(v.boolean(), false),
  published_at: v.nullish(v.string()),
  html_url: v.nullish(v.string()),
  body: v.nullish(v.string()),
});
export type Release = v.InferOutput<typeof Release>;

/** What counts as a name: what git itself allows in a ref, and short enough to be stored. */
export function isUsableTag(tag: string): boolean {
  return tag !== "" && tag.length <= maxTagCharacters && !/[\p{Cc}\p{Cs}\uFFFD ~^:?*[\\]/u.test(tag);
}

/** An address that may become a link. */
function linkOf(text: string | null | undefined): string | null {
  if (text === null || text === undefined || text.length > 2_048 || !URL.canParse(text)) return null;
  return ["http:", "https:"].includes(new URL(text).protocol) ? text : null;
}

/** The release in our terms; null for drafts, for one without a publish time, and for names that are none. */
export function readRelease({ tag_name, draft, prerelease, published_at, html_url, body }: Release): Found | null {
  const instant = parseInstant(published_at ?? "");
  if (draft || instant === null || !isUsableTag(tag_name)) return null;
  return {
    tag: tag_name,
    stage: prerelease ? "prerelease" : "release",
    published_at: instant >= earliestPublishTime ? instant : null,
    url: linkOf(html_url),
    notes: body === undefined || body === "" ? null : body,
  };
}
