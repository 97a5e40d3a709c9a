import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { parseConfig } from "../failure.ts";
import type { Source } from "../source.ts";
import { giteaApi } from "./api.ts";
import { listReleases } from "./releases.ts";
import { GiteaConfig, GiteaSecret } from "./schema.ts";
import { listNames, listTags } from "./tags.ts";

/** Gitea and Forgejo: releases by their API, commits by git's own protocol. */
export const gitea: Source<"gitea"> = {
  kind: "gitea",
  title: "Gitea or Forgejo",
  Config: GiteaConfig,
  has_release_types: true,
  reads_files: true,
  open(config, secret, context) {
    const { repository, instance_url } = parseConfig(GiteaConfig, config);
    // Never the issue's own text: it would quote the secret.
    if (secret !== null && !v.is(GiteaSecret, secret)) {
      throw new PluginError("rejected", say("sources.credential_without_token"));
    }
    const api = giteaApi({ instance: instance_url, path: repository }, secret, context);
    return {
      listReleases: (request) => listReleases(api, request),
      listTags: (request) => listTags(api, request),
      listNames: () => listNames(api),
      readFile: (path, ref) => api.readFile(path, ref),
    };
  },
  place_field: "repository",
  host: (config) => new URL(parseConfig(GiteaConfig, config).instance_url).host,
  // The newest page of releases and the tags' commits. Neither forge limits requests by itself; a proxy before it may.
  cost: () => ({ requests: 2, quota: 2, hourly_limit: null }),
};
