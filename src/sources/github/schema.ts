import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { fieldIssue } from "../field-issue.ts";
import { parseRepository } from "./repository.ts";

const fetchModes = ["rest", "graphql"] as const;

/** What a person says of a source of kind `github`. Stored reduced: a pasted address becomes repository and instance. */
export const GithubConfig = v.pipe(
  v.strictObject({
    repository: v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(issue("addresses.repository_wanted")),
      v.maxLength(500),
      v.title("Repository"),
      v.description("The address of its page works too"),
      v.metadata({ code: true, placeholder: "owner/repo" }),
    ),
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
    instance_url: v.pipe(
      v.optional(v.pipe(v.string(), v.trim(), v.maxLength(300)), ""),
      v.title("Instance URL"),
      v.description("For GitHub Enterprise Server. Blank means github.com"),
      v.metadata({ code: true, placeholder: "https://github.com", advanced: true }),
    ),
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const { repository, fetch_mode, instance_url } = dataset.value;
    try {
      const parsed = parseRepository(repository, instance_url);
      return { repository: `${parsed.owner}/${parsed.name}`, fetch_mode, instance_url: parsed.instance_url };
    } catch (error) {
      addIssue(fieldIssue(dataset.value, error));
      return NEVER;
    }
  }),
);
export type GithubConfig = v.InferOutput<typeof GithubConfig>;

/** The secret of a credential of kind `github`: a personal access token, as a header can carry it. */
export const GithubSecret = v.object({ token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/)) });
export type GithubSecret = v.InferOutput<typeof GithubSecret>;
