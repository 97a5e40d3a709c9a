import * as v from "valibot";
import { say } from "../../messages/message.ts";
import { optionalAddress, readTogether, requiredAddress } from "../address-fields.ts";
import { parseRepository } from "./repository.ts";

const fetchModes = ["rest", "graphql"] as const;

/** The configuration of a source of kind `github`, stored reduced: a pasted address becomes repository and instance. */
export const GithubConfig = v.pipe(
  v.strictObject({
    repository: requiredAddress(say("addresses.repository_wanted"), {
      title: "Repository",
      description: "The address of its page works too",
      max: 500,
      metadata: { placeholder: "owner/repo" },
    }),
    fetch_mode: v.pipe(
      v.optional(v.picklist(fetchModes), "rest"),
      v.title("GitHub fetch mode"),
      v.description("GraphQL-first is more accurate. REST-first can miss a release created from an old commit"),
      v.metadata({
        option_titles: {
          rest: "REST-first: works without a token",
          graphql: "GraphQL-first: recommended, needs a token",
        },
      }),
    ),
    instance_url: optionalAddress({
      title: "Instance URL",
      description: "For GitHub Enterprise Server. Blank means github.com",
      max: 300,
      metadata: { placeholder: "https://github.com", advanced: true },
    }),
  }),
  readTogether(({ repository, fetch_mode, instance_url }) => {
    const parsed = parseRepository(repository, instance_url);
    return { repository: parsed.path, fetch_mode, instance_url: parsed.instance_url };
  }),
);
export type GithubConfig = v.InferOutput<typeof GithubConfig>;
