import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { fieldIssue } from "../field-issue.ts";
import { parseProject, publicInstance } from "./project.ts";

/** What a person says of a source of kind `gitlab`. Stored reduced: a pasted address becomes path and instance. */
export const GitLabConfig = v.pipe(
  v.strictObject({
    project: v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(issue("addresses.project_wanted")),
      v.maxLength(1_200),
      v.title("Project"),
      v.description("The full path with its groups, the numeric project ID, or the project's address"),
      v.metadata({ code: true, placeholder: "group/project" }),
    ),
    instance_url: v.pipe(
      v.optional(v.pipe(v.string(), v.trim(), v.maxLength(300)), ""),
      v.title("Instance URL"),
      v.description("Blank means gitlab.com"),
      v.metadata({ code: true, placeholder: publicInstance }),
    ),
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const { project, instance_url } = dataset.value;
    try {
      const { instance, id } = parseProject(project, instance_url);
      return { project: id, instance_url: instance === publicInstance ? "" : instance };
    } catch (error) {
      addIssue(fieldIssue(dataset.value, error));
      return NEVER;
    }
  }),
);
export type GitLabConfig = v.InferOutput<typeof GitLabConfig>;

/** The secret of a credential of kind `gitlab`: a personal, project or group access token, as a header can carry it. */
export const GitLabSecret = v.object({ token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/)) });
export type GitLabSecret = v.InferOutput<typeof GitLabSecret>;
