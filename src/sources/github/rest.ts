import * as v from "valibot";
import { parseInstant } from "../../clock.ts";
import { PluginError } from "../../errors.ts";
import { readJson, readText } from "../../net/read-json.ts";
import type { PluginContext } from "../../plugin.ts";
import { refusal } from "./answer.ts";
import { believable, type Found, type FoundPage, isUsableTag, linkOf } from "./found.ts";

/** How often a renamed repository is followed: one that was renamed twice leads on by itself. */
const maxMoves = 3;
/** The version of the REST API whose answers are read here. */
const apiVersion = "2022-11-28";

const ReleaseAnswer = v.object({
  tag_name: v.string(),
  draft: v.boolean(),
  prerelease: v.boolean(),
  published_at: v.nullable(v.string()),
  html_url: v.string(),
  body: v.nullish(v.string()),
});

/** What the REST API of one repository is asked for. */
export interface RestRepository {
  /** `https://api.github.com/repos/owner/name` */
  url: string;
  /** `owner/name`, for messages. */
  name: string;
}

export interface RestPage extends FoundPage {
  /** Answered from another place: the repository was renamed or moved. */
  isMoved: boolean;
}

function readRelease(release: v.InferOutput<typeof ReleaseAnswer>): Found[] {
  const published_at = believable(parseInstant(release.published_at ?? ""));
  // `target_commitish` is a branch as often as not, so the commit comes from the tags themselves.
  if (release.draft || published_at === null || !isUsableTag(release.tag_name)) return [];
  return [
    {
      tag: release.tag_name,
      stage: release.prerelease ? "prerelease" : "release",
      published_at,
      revision: null,
      url: linkOf(release.html_url),
      notes: release.body ?? null,
    },
  ];
}

/** The requests of REST-first, and files in both modes. */
export function restApi(repository: RestRepository, token: string | null, context: PluginContext) {
  /** Follows a renamed repository, on the same origin alone: the token goes nowhere else. */
  const get = async (path: string, accept: string, action: string) => {
    const headers = new Headers({ accept, "x-github-api-version": apiVersion });
    if (token !== null) headers.set("authorization", `Bearer ${token}`);
    let url = new URL(`${repository.url}${path}`);
    for (let moves = 0; moves <= maxMoves; moves += 1) {
      const response = await context.fetch(url, { headers, redirect: "manual" });
      const location = response.headers.get("location");
      if (![301, 302, 307, 308].includes(response.status) || location === null) return { response, moves };
      const next = URL.canParse(location, url) ? new URL(location, url) : null;
      if (next === null || next.origin !== url.origin || next.username !== "") {
        const where = next === null ? "no address" : `"${next.host}"`;
        throw new PluginError("rejected", `Could not ${action}: it moved to ${where}, and only "${url.host}" is asked`);
      }
      url = next;
    }
    throw new PluginError("rejected", `Could not ${action}: it moved more than ${maxMoves} times`);
  };

  const getJson = async (path: string, action: string) => await get(path, "application/vnd.github+json", action);

  return {
    async listReleases(page: number, perPage: number): Promise<RestPage> {
      const action = `list the releases of "${repository.name}"`;
      const query = page === 1 ? `per_page=${perPage}` : `per_page=${perPage}&page=${page}`;
      const { response, moves } = await getJson(`/releases?${query}`, action);
      if (!response.ok) throw await refusal(response, action, context.clock.now());
      const releases = await readJson(response, v.array(ReleaseAnswer));
      const hasMore = /;\s*rel="next"/.test(response.headers.get("link") ?? "");
      return { found: releases.flatMap(readRelease), hasMore, isMoved: moves > 0 };
    },

    /** A release by its tag; null when there is none. */
    async findRelease(tag: string): Promise<Found | null> {
      const action = `read the release "${tag}" of "${repository.name}"`;
      const { response } = await getJson(`/releases/tags/${encodeURIComponent(tag)}`, action);
      if (response.status === 404) return null;
      if (!response.ok) throw await refusal(response, action, context.clock.now());
      return readRelease(await readJson(response, ReleaseAnswer))[0] ?? null;
    },

    /** A file at a ref, the default branch for null; null when there is none. Throws `rejected` for a folder. */
    async readFile(path: string, ref: string | null): Promise<string | null> {
      const action = `read "${path.slice(0, 200)}" of "${repository.name}"`;
      const parts = path.replace(/^\/+/, "").split("/");
      if (parts.some((part) => part === "" || part === "." || part === "..")) {
        throw new PluginError(
          "rejected",
          `Could not ${action}: a path is made of names with single slashes between them`,
        );
      }
      const query = ref === null ? "" : `?ref=${encodeURIComponent(ref)}`;
      const address = `/contents/${parts.map(encodeURIComponent).join("/")}${query}`;
      const { response } = await get(address, "application/vnd.github.raw+json", action);
      if (response.status === 404) return null;
      if (!response.ok) throw await refusal(response, action, context.clock.now());
      // A folder has no raw form: GitHub lists it as ordinary JSON.
      if (/^application\/json\b/i.test(response.headers.get("content-type") ?? "")) {
        throw new PluginError("rejected", `Could not ${action}: it is a folder`);
      }
      return await readText(response);
    },
  };
}

export type RestApi = ReturnType<typeof restApi>;
