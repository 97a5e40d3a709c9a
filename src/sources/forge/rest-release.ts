import * as v from "valibot";
import { parseInstant } from "../../clock.ts";
import type { UpstreamRelease } from "../source.ts";
import { believable, isUsableTag, linkOf } from "./believable.ts";

/** A release in the form of GitHub's REST API, which Gitea and Forgejo share. */
export const RestRelease = v.object({
  tag_name: v.string(),
  draft: v.nullish(v.boolean(), false),
  prerelease: v.nullish(v.boolean(), false),
  published_at: v.nullish(v.string()),
  html_url: v.nullish(v.string()),
  body: v.nullish(v.string()),
});

/** Null for a draft, without a publish time, or with a name that git does not allow. The commit comes from the tag. */
export function readRestRelease(release: v.InferOutput<typeof RestRelease>): UpstreamRelease | null {
  const { tag_name: tag, draft, prerelease, published_at, html_url, body } = release;
  const instant = parseInstant(published_at ?? "");
  if (draft || instant === null || !isUsableTag(tag)) return null;
  return {
    version: tag,
    tag,
    stage: prerelease ? "prerelease" : "release",
    published_at: believable(instant),
    revision: null,
    url: linkOf(html_url),
    notes: body === undefined || body === "" ? null : body,
  };
}
