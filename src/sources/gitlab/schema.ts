import * as v from "valibot";
import { say } from "../../messages/message.ts";
import { optionalAddress, readTogether, requiredAddress } from "../address-fields.ts";
import { parseProject, publicInstance } from "./project.ts";

/** The configuration of a source of kind `gitlab`, stored reduced: a pasted address becomes path and instance. */
export const GitLabConfig = v.pipe(
  v.strictObject({
    project: requiredAddress(say("addresses.project_wanted"), {
      title: "Project",
      description: "The full path with its groups, the numeric project ID, or the project's address",
      max: 1_200,
      metadata: { placeholder: "group/project" },
    }),
    instance_url: optionalAddress({
      title: "Instance URL",
      description: "Blank means gitlab.com",
      max: 300,
      metadata: { placeholder: publicInstance },
    }),
  }),
  readTogether(({ project, instance_url }) => {
    const { instance, id } = parseProject(project, instance_url);
    return { project: id, instance_url: instance === publicInstance ? "" : instance };
  }),
);
export type GitLabConfig = v.InferOutput<typeof GitLabConfig>;
