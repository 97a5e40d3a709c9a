import { Buffer } from "node:buffer";
import type { PluginContext } from "../../plugin.ts";
import { listTagCommits } from "../forge/git-refs.ts";
import { listGitTags } from "../forge/git-tags.ts";
import { type ForgePage, listIncrementally, newestPageSize } from "../forge/listing.ts";
import type { Listing, ListRequest, UpstreamRelease } from "../source.ts";
import { movedTo, type Places, repositoryOfPage, tagPage } from "./instance.ts";
import { explainGithub, type RestApi } from "./rest.ts";

/** The largest page of GitHub. */
const maxPageSize = 100;
/**
 * GitHub sorts this list by the date of the tagged commit, not by publication: a new release of an older commit is further down
 * than the newest `limit`. The page is still not full: each entry has all its assets, and a response of more than 2 MiB is not stored
 * for the next 304.
 */
const newestPage = { each: 3, least: 30, most: maxPageSize };

/** Git over HTTPS takes a token as a password with any user name. */
export function gitAuthorization(token: string | null): string | null {
  return token === null ? null : `Basic ${Buffer.from(`x-access-token:${token}`, "utf8").toString("base64")}`;
}

/** REST-first: releases by conditional requests, and the commits of all tags by one `ls-refs`, which counts against no rate limit. */
export function restSource(api: RestApi, places: Places, token: string | null, context: PluginContext) {
  /** Where this check found the repository, if it has moved. */
  let moved: string | null = null;

  const listCommits = async () => {
    const page = places.page.slice(0, -places.name.length) + (moved ?? places.name);
    return await listTagCommits(new URL(page), context, gitAuthorization(token), explainGithub(token));
  };

  /** A redirect has only a number. Each release has the new name; without a release it costs a request. */
  const findNewName = async (releases: readonly UpstreamRelease[]): Promise<string | null> => {
    const named = releases.map((release) => repositoryOfPage(release.url)).find((name) => name !== null);
    return movedTo(places.name, named ?? (await api.readName()));
  };

  const readPage = async (number: number, size: number): Promise<ForgePage> => {
    const { releases, count, has_more, has_moved } = await api.listReleases(number, size);
    if (has_moved) moved ??= await findNewName(releases);
    // After a short first page, full pages are read from the start: they overlap it, but need fewer requests.
    const following = size === maxPageSize ? number + 1 : 1;
    return { releases, count, total: null, next: has_more ? () => readPage(following, maxPageSize) : null };
  };

  return {
    async listReleases(request: ListRequest): Promise<Listing> {
      const listing = await listIncrementally(
        {
          list: "releases",
          first: (memory) => readPage(1, newestPageSize(request, memory, newestPage)),
          commits: { list: listCommits, find: api.findRelease },
        },
        request,
      );
      return { ...listing, moved_to: moved };
    },

    async listTags(request: ListRequest): Promise<Listing> {
      const listing = await listGitTags(request, await listCommits(), (tag) => tagPage(places.page, tag));
      return { ...listing, moved_to: moved };
    },
  };
}
