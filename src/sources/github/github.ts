import type { PluginContext } from "../../plugin.ts";
import { parseConfig } from "../failure.ts";
import { listTagCommits } from "../forge/git-refs.ts";
import { parseToken } from "../forge/token.ts";
import type { OpenSource, Source } from "../source.ts";
import { graphqlNeedsToken, graphqlSource } from "./graphql-source.ts";
import { type Places, placesOf, webPages } from "./instance.ts";
import { parseRepository } from "./repository.ts";
import { explainGithub, restApi } from "./rest.ts";
import { gitAuthorization, restSource } from "./rest-source.ts";
import { GithubConfig } from "./schema.ts";

/** GitHub's documented requests per hour: for an IP address without a token, and for the owner of a token. */
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
  // A failing mode reports its own error; the other mode is never tried.
  const mode =
    config.fetch_mode === "graphql" ? graphqlSource(places, token, context) : restSource(api, places, token, context);
  return {
    listReleases: mode.listReleases,
    listTags: mode.listTags,
    async listNames() {
      const explain = explainGithub(token);
      return [...(await listTagCommits(new URL(places.page), context, gitAuthorization(token), explain)).keys()];
    },
    // By REST in both modes: it has a validator, and GraphQL truncates long files.
    readFile: api.readFile,
  };
}

/** Releases and tags of github.com and of GitHub Enterprise, by GraphQL or REST. */
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
  pages: (config) => webPages(readConfig(config).places),
  // The history stays when the mode changes.
  identity: (config) => readConfig(config).config.repository.toLowerCase(),
  // One query; or the releases and git's list of tags, which counts against no limit.
  cost: (input, { has_credential }) => {
    const isGraphql = readConfig(input).config.fetch_mode === "graphql";
    const hourly_limit = isGraphql || has_credential ? tokenLimit : anonymousLimit;
    return { requests: isGraphql ? 1 : 2, quota: 1, hourly_limit };
  },
  credentialNeed: (input) => (readConfig(input).config.fetch_mode === "graphql" ? graphqlNeedsToken : null),
};
