import { parseConfig } from "../failure.ts";
import { listGitTags } from "../forge/git-tags.ts";
import { listIncrementally, newestPageSize } from "../forge/listing.ts";
import { parseToken } from "../forge/token.ts";
import type { Source } from "../source.ts";
import { giteaApi, webPages } from "./api.ts";
import { GiteaConfig } from "./schema.ts";

/** Gitea and Forgejo return at most 50 in one page unless their administrator allows more. Pages have no validators. */
const newestPage = { each: 2, least: 20, most: 50 };

/** Gitea and Forgejo: releases by their API, commits by git's own protocol. */
export const gitea: Source<"gitea"> = {
  kind: "gitea",
  title: "Gitea or Forgejo",
  Config: GiteaConfig,
  has_release_types: true,
  reads_files: true,
  open(config, secret, context) {
    const { repository, instance_url } = parseConfig(GiteaConfig, config);
    const api = giteaApi({ instance: instance_url, path: repository }, parseToken(secret), context);
    return {
      listReleases: async (request) => {
        const listing = await listIncrementally(
          {
            list: "releases",
            first: (memory) => api.listReleases(newestPageSize(request, memory, newestPage)),
            commits: { list: api.listCommits, find: api.findRelease },
          },
          request,
        );
        return { ...listing, moved_to: api.movedTo() };
      },
      listTags: async (request) => {
        const listing = await listGitTags(request, await api.listCommits(), api.tagPage);
        return { ...listing, moved_to: api.movedTo() };
      },
      listNames: async () => [...(await api.listCommits()).keys()],
      readFile: (path, ref) => api.readFile(path, ref),
    };
  },
  place_field: "repository",
  host: (config) => new URL(parseConfig(GiteaConfig, config).instance_url).host,
  pages: (config) => {
    const { repository, instance_url } = parseConfig(GiteaConfig, config);
    return webPages({ instance: instance_url, path: repository });
  },
  // The newest page of releases, and the commits of the tags. Only a proxy in front of the forge may limit requests.
  cost: () => ({ requests: 2, quota: 2, hourly_limit: null }),
};
