import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { RuntimeSession } from "../../runtimes/session.ts";
import type { Artifact, ImageArtifact } from "../../runtimes/target.ts";
import { compareImages, type DesiredImage, desiredReference } from "../../versions/desired-image.ts";
import {
  type ImageReference,
  ImageReferenceError,
  isImageId,
  parseImageReference,
} from "../../versions/image-reference.ts";
import { moveOf, pairIn } from "../../versions/running-tag.ts";
import { rememberedTag, tagsOfDigest, tagsWith } from "../queries.ts";
import type { ImagePlace } from "../releases.ts";
import { watchesImage } from "../settings.ts";
import { type ArtifactDeps, type ArtifactRules, type Asked, serviceMissing } from "./artifact.ts";
import { registryAccess } from "./registry-access.ts";
import { tagOfRelease } from "./release-tag.ts";

/** An image keeps its registry and repository or takes the tracker's, by the executor's policy. */
export const image: ArtifactRules = {
  names: async ({ read }, settings, { service, source_id }, found) => {
    const { reference, digest } = imageOf(found.artifact);
    // More exact than a floating tag.
    const others = digest === null ? [] : await tagsOfDigest(read, source_id, digest);
    const named = tagIn(reference) ?? others[0] ?? null;
    const isKnown = named !== null || digest === null || isImageId(reference);
    return { label: isKnown ? named : await rememberedTag(read, settings.id, service, digest), others };
  },

  desired: async (deps, asked) => {
    const { settings, binding, found, release, engine } = asked;
    const { service, tracker, source } = binding;
    const watched = await deps.releases.imageFor(binding.source_id);
    if (watched === null && settings.image_selection === "use_tracker") {
      return { code: "no_image", message: say("executors.no_image", { tracker, source }) };
    }
    if (watched === null && found === null) return serviceMissing(settings, service);
    const running = found === null ? null : imageOf(found.service.artifact).reference;
    try {
      const named =
        watched === null && found !== null && running !== null
          ? await tagOfRelease(deps, settings, { image: running, tag: found.label, release, engine })
          : release;
      if ("code" in named) return named;
      const wanted = desiredReference({
        current: running ?? watched ?? "",
        tracker: watched ?? running ?? "",
        tag: named.tag,
        digest: named.digest,
        policy: settings.image_selection,
        mode: settings.reference_mode,
      });
      const { reference, pull, digest } = wanted;
      return {
        label: named.tag,
        reference,
        digest,
        change: async (session) => ({
          kind: "image",
          service,
          reference,
          digest: digest === null ? null : pull,
          image_config: await imageConfig(deps, asked, session, { ...wanted, tag: named.tag }),
        }),
      };
    } catch (error) {
      if (!(error instanceof ImageReferenceError)) throw error;
      return { code: "no_image", message: error.said };
    }
  },

  compare: (found, { reference, digest }) => {
    try {
      return compareImages(found, { reference, digest });
    } catch (error) {
      // The runtime's name for an image may not parse; the difference is then unknown.
      if (error instanceof ImageReferenceError) return "unknown";
      throw error;
    }
  },

  // A name found only by digest says which version runs, not which line was chosen.
  move: async ({ read }, { source_id }, { service, label, others }, to) => {
    const { reference } = imageOf(service.artifact);
    const tag = tagIn(reference) ?? (others.length === 0 ? label : null);
    const pair = tag === null ? null : pairIn(tag);
    const beside = pair === null ? [] : await tagsWith(read, source_id, `${pair}.`);
    return moveOf({ repository: readReference(reference)?.repository ?? "", tag, names: others, beside }, to);
  },
};

function imageOf(artifact: Artifact): ImageArtifact {
  if (artifact.kind !== "image") throw new Error(`"${artifact.reference}" is not an image`);
  return artifact;
}

/** From a source that watches the image, else from the registry of the running image. */
async function imageConfig(
  deps: ArtifactDeps,
  { settings, binding, found }: Asked,
  session: RuntimeSession,
  { digest, tag }: DesiredImage & { tag: string },
): Promise<Readonly<Record<string, unknown>> | null> {
  if (found === null) return null;
  const { reference, platform } = imageOf(found.service.artifact);
  try {
    const place: ImagePlace = watchesImage(binding)
      ? { source_id: binding.source_id }
      : { image: reference, access: await registryAccess(deps, settings, reference, session) };
    return await deps.releases.readImageConfig(place, digest ?? tag, platform);
  } catch (error) {
    // Without the defaults the diff shows less; the pull will report what is wrong with the registry.
    if (error instanceof PluginError) return null;
    throw error;
  }
}

function tagIn(reference: string): string | null {
  const parsed = readReference(reference);
  return parsed === null ? null : (parsed.tag ?? (parsed.digest === null ? "latest" : null));
}

/** Null for an image ID, and for anything that names no repository. */
function readReference(reference: string): ImageReference | null {
  if (isImageId(reference)) return null;
  try {
    return parseImageReference(reference);
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}
