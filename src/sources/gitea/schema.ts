import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { fieldIssue } from "../field-issue.ts";
import { parseRepository } from "./repository.ts";

/** What a person says of a source of kind `gitea`. Stored reduced: a pasted address becomes repository and instance. */
export const GiteaConfig = v.pipe(
  v.strictObject({
    repository: v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(issue("addresses.repository_wanted")),
      v.maxLength(500),
      v.title("Repository path"),
      v.description("The address of its page works too"),
      v.metadata({ code: true, placeholder: "owner/repo" }),
    ),
    instance_url: v.pipe(
      v.optional(v.pipe(v.string(), v.trim(), v.maxLength(300)), ""),
      v.title("Instance URL"),
      v.description("For Gitea or Forgejo. Can stay blank if the repository is a full address"),
      v.metadata({ code: true, placeholder: "https://codeberg.org" }),
    ),
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const { repository, instance_url } = dataset.value;
    try {
      const { instance, path } = parseRepository(repository, instance_url);
      return { repository: path, instance_url: instance };
    } catch (error) {
      addIssue(fieldIssue(dataset.value, error));
      return NEVER;
    }
  }),
);
export type GiteaConfig = v.InferOutput<typeof GiteaConfig>;

/** The secret of a credential of kind `gitea`: an application token, as a header can carry it. */
export const GiteaSecret = v.object({ token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/)) });
export type GiteaSecret = v.InferOutput<typeof GiteaSecret>;
