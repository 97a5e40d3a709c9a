import * as v from "valibot";
import { issue } from "../../messages/message.ts";
import { fieldIssue } from "../field-issue.ts";
import { parseRepository } from "./repository.ts";

export const publishedAtModes = ["auto", "build_time", "first_observed"] as const;

/** What a person says of a source of kind `oci`; see `parseRepository` for how the two addresses are read. */
export const OciConfig = v.pipe(
  v.strictObject({
    image: v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(issue("addresses.image_wanted")),
      v.maxLength(512),
      v.title("Image name"),
      v.description("A full image reference works too: its registry is used, its tag and digest are dropped"),
      v.metadata({ code: true, placeholder: "ghcr.io/owner/app" }),
    ),
    registry: v.pipe(
      v.optional(v.pipe(v.string(), v.trim(), v.maxLength(300)), ""),
      v.title("Registry address"),
      v.description("Blank means the image's own registry, or Docker Hub. Plain HTTP only with an explicit http://"),
      v.metadata({ code: true, placeholder: "docker.io" }),
    ),
    published_at_mode: v.pipe(
      v.optional(v.picklist(publishedAtModes), "auto"),
      v.title("Published at"),
      v.description("Reading build times costs two to three requests for each new tag, and pulls on Docker Hub"),
      v.metadata({
        advanced: true,
        option_titles: {
          auto: "Auto: first observed on Docker Hub, build time elsewhere",
          build_time: "Always try to read the real build time",
          first_observed: "Use the first observed time only",
        },
      }),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    // A field that has its own error already is not judged again.
    if (!dataset.typed || dataset.issues !== undefined) return;
    const { image, registry } = dataset.value;
    try {
      parseRepository(image, registry);
    } catch (error) {
      addIssue(fieldIssue(dataset.value, error));
    }
  }),
);
export type OciConfig = v.InferOutput<typeof OciConfig>;

/** The secret of a credential of kind `oci`; the password may be a personal access token. */
export const OciSecret = v.object({ username: v.string(), password: v.string() });
export type OciSecret = v.InferOutput<typeof OciSecret>;
