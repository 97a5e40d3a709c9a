import type { PluginContext } from "../../plugin.ts";
import { parseConfig } from "../failure.ts";
import { listTagCommits } from "../forge/git-refs.ts";
import { usableNames } from "../forge/git-tags.ts";
import { parseToken } from "../forge/token.ts";
import type { OpenSource, Source } from "../source.ts";
import { graphqlNeedsToken, graphqlSource } from "./graphql-source.ts";
import { type Places, placesOf } from "./instance.ts";
import { parseRepository } from "./repository.ts";
import { restApi } from "./rest.ts";
import { gitAuthorization, restSource } from "./rest-source.ts";
import { GithubConfig } from "./schema.ts";

/** Requests an hour as GitHub documents them, for an address without a token and for a token's owner. */
const anonymousLimit = 60;
const tokenLimit = 5_000;

function readConfig(input: unknown): { places: Places; config: GithubConfig } {
  const config = parseConfig(GithubConfig, input);
  return { places: placesOf(parseRepository(config.repository, config.instance_url)), config };
}

function open(input: unknown, secret: unknown, context: PluginContext): OpenSource {
  const { places, config } = readConfig(input);
  const token = parseToken(secret);
  const api = restApi({ url: places.rest, name: places.name }, token, context);
  // One mode for the life of a configuration: a failing one reports its own error, and the other is never tried.
  const mode =
    config.fetch_mode === "graphql" ? graphqlSource(places, token, context) : restSource(api, places, token, context);
  return {
    listReleases: mode.listReleases,
    listTags: mode.listTags,
    async listNames() {
      return usableNames(await listTagCommits(new URL(places.page), context, gitAuthorization(token)));
    },
    // In both modes by REST: its answer has a validator, and it gives files whole that GraphQL cuts.
    readFile: api.readFile,
  };
}

/** Releases and tags of github.com and of GitHub Enterprise, by GraphQL or by REST as the configuration says. */
export const github: Source<"github"> = {
  kind: "github",
  title: "GitHub",
  Config: GithubConfig,
  has_release_types: true,
  reads_files: true,
  tells_publish_times: true,
  open,
  place_field: "repository",
  host: (config) => readConfig(config).places.host,
  // Another mode asks the same repository, whose history stays.
  identity: (config) => readConfig(config).config.repository.toLowerCase(),
  // One query; or the releases and git's list of tags, of which the second costs no allowance.
  cost: (input, { has_credential }) => {
    const isGraphql = readConfig(input).config.fetch_mode === "graphql";
    const hourly_limit = isGraphql || has_credential ? tokenLimit : anonymousLimit;
    return { requests: isGraphql ? 1 : 2, quota: 1, hourly_limit };
  },
  credentialNeed: (input) => (readConfig(input).config.fetch_mode === "graphql" ? graphqlNeedsToken : null),
};
