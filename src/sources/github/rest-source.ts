import { Buffer } from "node:buffer";
import type { PluginContext } from "../../plugin.ts";
import { listTagCommits } from "../forge/git-refs.ts";
import { listGitTags } from "../forge/git-tags.ts";
import type { Listing, ListRequest } from "../source.ts";
import { type Found, type FoundPage, tagPage } from "./found.ts";
import { movedTo, type Places, repositoryOfPage } from "./instance.ts";
import { type Memo, parseMemo } from "./memo.ts";
import type { RestApi } from "./rest.ts";
import { createWindow } from "./window.ts";

/** GitHub gives no more in one page. */
const maxPageSize = 100;
/** Watched releases off the newest page whose tag moved: asked one by one, and the rest of them at the next checks. */
const maxLookups = 5;

/**
 * The raised depth of REST-first. GitHub sorts this list by the date of the tagged commit and not by publication, so a release of
 * today that was made from an older commit is further down than the newest `limit`: three times as many are read, 30 at least.
 * Not always 100, for an entry comes with all its assets, and an answer of more than 2 MiB is not kept for the next 304.
 */
function pageSize(request: ListRequest, memory: Memo | null): number {
  return memory === null ? maxPageSize : Math.min(Math.max(request.limit * 3, 30), maxPageSize);
}

/** Git over https takes a token as the password of anybody. */
export function gitAuthorization(token: string | null): string | null {
  return token === null ? null : `Basic ${Buffer.from(`x-access-token:${token}`, "utf8").toString("base64")}`;
}

/** REST-first: the releases by conditional requests, the commits of all tags by one `ls-refs`, which costs no allowance. */
export function restSource(api: RestApi, places: Places, token: string | null, context: PluginContext) {
  /** Where the repository was found to be in this check. */
  let moved: string | null = null;

  const listCommits = async () => {
    const page = places.page.slice(0, -places.name.length) + (moved ?? places.name);
    return await listTagCommits(new URL(page), context, gitAuthorization(token));
  };

  /** A redirect names a number alone; the new name is in every release, and asked for where there is none. */
  const findNewName = async (found: readonly Found[]): Promise<string | null> => {
    const named = found.map((release) => repositoryOfPage(release.url)).find((name) => name !== null);
    return movedTo(places.name, named ?? (await api.readName()));
  };

  /** Watched releases that are not on the pages, and whose commit is another than the one that is stored. */
  const lookUp = async (request: ListRequest, near: ReadonlySet<string>, commits: ReadonlyMap<string, string>) => {
    const moved = request.watch.filter((tag) => {
      const commit = commits.get(tag);
      return !near.has(tag) && commit !== undefined && request.known.get(tag)?.revision !== commit;
    });
    const found: Found[] = [];
    for (const tag of moved.slice(0, maxLookups)) {
      const release = await api.findRelease(tag);
      if (release !== null) found.push(release);
    }
    return found;
  };

  return {
    async listReleases(request: ListRequest): Promise<Listing> {
      const memory = parseMemo(request.memo);
      const window = createWindow("releases", request, memory);
      const pages: FoundPage[] = [];
      const size = pageSize(request, memory);
      const newest = await api.listReleases(1, size);
      window.add(newest);
      pages.push(newest);
      // Beyond the newest page the long ones are read from the start: they overlap it, and are fewer.
      for (let number = size === maxPageSize ? 2 : 1; window.needsMore(); number += 1) {
        const page = await api.listReleases(number, maxPageSize);
        window.add(page);
        pages.push(page);
      }
      const found = pages.flatMap((page) => page.found);
      moved = newest.has_moved ? await findNewName(found) : null;
      if (found.length === 0) return { releases: [], total: 0, memo: request.memo, moved_to: moved };
      const commits = await listCommits();
      const near = new Set(found.map((release) => release.tag));
      const watched = await lookUp(request, near, commits);
      return { ...window.listing(watched, commits), moved_to: moved };
    },

    async listTags(request: ListRequest): Promise<Listing> {
      // Tags stand in for releases where there never were any: an emptied list is no reason to announce them.
      if (parseMemo(request.memo)?.kind === "releases")
        return { releases: [], total: 0, memo: request.memo, moved_to: moved };
      const listing = await listGitTags(request, await listCommits(), (tag) => tagPage(places.page, tag));
      return { ...listing, moved_to: moved };
    },
  };
}
