import * as v from "valibot";
import { say } from "../../messages/message.ts";
import { checkTogether, optionalAddress, requiredAddress } from "../address-fields.ts";
import { parseRepository } from "./repository.ts";

const publishedAtModes = ["auto", "build_time", "first_observed"] as const;

/** The configuration of a source of kind `oci`; `parseRepository` reads the two addresses. */
export const OciConfig = v.pipe(
  v.strictObject({
    image: requiredAddress(say("addresses.image_wanted"), {
      title: "Image name",
      description: "A full image reference works too: its registry is used, its tag and digest are dropped",
      max: 512,
      metadata: { placeholder: "ghcr.io/owner/app" },
    }),
    registry: optionalAddress({
      title: "Registry address",
      description: "Blank means the image's own registry, or Docker Hub. Plain HTTP only with an explicit `http://`",
      max: 300,
      metadata: { placeholder: "docker.io" },
    }),
    published_at_mode: v.pipe(
      v.optional(v.picklist(publishedAtModes), "auto"),
      v.title("Published at"),
      v.description(
        "Automatic: the build time, on Docker Hub the time first observed. Reading build times costs two to three requests for each new tag, and pulls on Docker Hub",
      ),
      v.metadata({
        advanced: true,
        option_titles: {
          auto: "Automatic",
          build_time: "Build time",
          first_observed: "Time first observed",
        },
      }),
    ),
  }),
  checkTogether(({ image, registry }) => parseRepository(image, registry)),
);
export type OciConfig = v.InferOutput<typeof OciConfig>;

/** The secret of a credential of kind `oci`; the password may be a personal access token. */
export const OciSecret = v.object({ username: v.string(), password: v.string() });
export type OciSecret = v.InferOutput<typeof OciSecret>;
