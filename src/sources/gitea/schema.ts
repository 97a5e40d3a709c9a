import * as v from "valibot";
import { say } from "../../messages/message.ts";
import { optionalAddress, readTogether, requiredAddress } from "../address-fields.ts";
import { type PlaceForm, parsePlace, readOwnerAndName } from "../forge/place.ts";

const form: PlaceForm = {
  field: "repository",
  example: "https://codeberg.org",
  api_path: /\/api(?:\/v1)?$/,
  public_instance: null,
  readPath: readOwnerAndName,
};

/** The configuration of a source of kind `gitea`, stored reduced: a pasted address becomes repository and instance. */
export const GiteaConfig = v.pipe(
  v.strictObject({
    repository: requiredAddress(say("addresses.repository_wanted"), {
      title: "Repository path",
      description: "The address of its page works too",
      max: 500,
      metadata: { placeholder: "owner/repo" },
    }),
    instance_url: optionalAddress({
      title: "Instance URL",
      description: "For Gitea or Forgejo. Can stay blank if the repository is a full address",
      max: 300,
      metadata: { placeholder: form.example },
    }),
  }),
  readTogether(({ repository, instance_url }) => {
    const { instance, path } = parsePlace(repository, instance_url, form);
    return { repository: path, instance_url: instance };
  }),
);
export type GiteaConfig = v.InferOutput<typeof GiteaConfig>;
