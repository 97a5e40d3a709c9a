import * as v from "valibot";
import { parseInstant } from "../../clock.ts";
import { webUrl } from "../../net/web-url.ts";
import { isObjectId, isUsableTag } from "../forge/believable.ts";
import { decodePath } from "../forge/place.ts";
import type { ReleaseStage, UpstreamRelease } from "../source.ts";
import { readProjectPath } from "./project.ts";

const Commit = v.nullish(
  v.object({ id: v.string(), created_at: v.nullish(v.string()), web_url: v.nullish(v.string()) }),
);

/** `GET /projects/:id/releases`. Without access to the code, GitLab omits tag and commit. */
export const Releases = v.array(
  v.object({
    tag_name: v.nullish(v.string()),
    description: v.nullish(v.string()),
    created_at: v.nullish(v.string()),
    released_at: v.nullish(v.string()),
    upcoming_release: v.nullish(v.boolean()),
    commit: Commit,
    _links: v.nullish(v.object({ self: v.nullish(v.string()) })),
  }),
);
export type ReleaseAnswer = v.InferOutput<typeof Releases>[number];

/** `GET /projects/:id/repository/tags`. Only annotated tags have `created_at`. */
export const Tags = v.array(v.object({ name: v.string(), created_at: v.nullish(v.string()), commit: Commit }));
export type TagAnswer = v.InferOutput<typeof Tags>[number];

function commitOf(commit: v.InferOutput<typeof Commit>): string | null {
  return isObjectId(commit?.id) ? commit.id : null;
}

function firstInstant(texts: readonly (string | null | undefined)[]): number | null {
  const text = texts.find((candidate) => candidate !== null && candidate !== undefined);
  return text === null || text === undefined ? null : parseInstant(text);
}

/** A page of this instance, or null: links to other hosts are not shown. */
export function ownPage(text: string | null | undefined, instance: string): string | null {
  if (text === null || text === undefined || text.length > 2_048 || !URL.canParse(text)) return null;
  const url = webUrl(text);
  const isOwn = /^https?:$/.test(url.protocol) && url.hostname === new URL(instance).hostname;
  return isOwn && url.username === "" && url.password === "" ? url.href : null;
}

/** The full path of the project, from the address of a release or commit page; null for other pages. */
export function projectOfPage(page: string | null, instance: string): string | null {
  if (page === null) return null;
  const prefix = new URL(instance).pathname.replace(/\/$/, "");
  const { pathname } = new URL(page);
  if (!pathname.startsWith(`${prefix}/`)) return null;
  return /\/-\/(?:releases|commit)\b/.test(pathname)
    ? readProjectPath(decodePath(pathname.slice(prefix.length)))
    : null;
}

function stageOf(release: ReleaseAnswer, now: number): ReleaseStage {
  const { upcoming_release, released_at } = release;
  if (typeof upcoming_release === "boolean") return upcoming_release ? "prerelease" : "release";
  const at = typeof released_at === "string" ? parseInstant(released_at) : null;
  return at !== null && at > now ? "prerelease" : "release";
}

/** Null without a valid tag or without a time. */
export function toRelease(answer: ReleaseAnswer, instance: string, now: number): UpstreamRelease | null {
  const { tag_name, released_at, created_at, description, commit, _links } = answer;
  if (typeof tag_name !== "string" || !isUsableTag(tag_name)) return null;
  if (parseInstant(released_at ?? created_at ?? "") === null) return null;
  const stage = stageOf(answer, now);
  return {
    version: tag_name,
    tag: tag_name,
    stage,
    // An upcoming release is not published yet.
    published_at: stage === "prerelease" ? null : firstInstant([released_at, created_at]),
    revision: commitOf(commit),
    url: ownPage(_links?.self, instance),
    notes: description === null || description === undefined || description === "" ? null : description,
  };
}

/** Null for a name that git does not allow. */
export function toTag(answer: TagAnswer, page: (tag: string) => string | null): UpstreamRelease | null {
  const { name, created_at, commit } = answer;
  if (!isUsableTag(name)) return null;
  return {
    version: name,
    tag: name,
    stage: "tag",
    published_at: firstInstant([created_at, commit?.created_at]),
    revision: commitOf(commit),
    url: page(name),
    notes: null,
  };
}
