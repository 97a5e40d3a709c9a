import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { isImageId } from "../../versions/image-reference.ts";
import type { Journal } from "../journal.ts";
import type { ImageChange } from "../plan.ts";
import type { RegistryAuth } from "../session.ts";
import type { EngineClient } from "./client.ts";
import { findDesiredImage, hasDigest, platformRefusals, type Scene } from "./container-plan.ts";
import { type ImageInspect, platformOf } from "./objects.ts";
import { isSameRegistry, registryOf, splitReference } from "./reference.ts";
import { step } from "./step.ts";
import { orNull } from "./survey.ts";

/** Pulls what is missing, verifies that it is what was requested, and returns the image. Changes nothing else. */
export async function pullDesired(
  client: EngineClient,
  scene: Pick<Scene, "image" | "engine_platform">,
  change: ImageChange,
  auths: readonly RegistryAuth[],
  journal: Journal,
): Promise<ImageInspect> {
  const wanted = change.digest ?? change.reference;
  let image: ImageInspect | null = null;
  const facts = { service: change.service, pulled: wanted, ...(await tagFacts(client, change.reference)) };
  await step(journal, "pull", facts, async () => {
    const local = await findDesiredImage(client, change);
    const platform = foreignPlatform(scene);
    if (local === null)
      await client.pullImage(wanted, platform, authFor(wanted, auths), (done) => journal.progress(done));
    image = await verifiedImage(client, scene, change);
    await tagAsReferenced(client, change, image);
    return { service: change.service, image_id: image.Id, was_local: local !== null };
  });
  if (image === null) throw new PluginError("malformed", say("engine.pull_without_image", { reference: wanted }));
  return image;
}

/** What the tag of a reference currently names: undoing a run restores it. Null for a digest, an ID and a new tag. */
export async function tagFacts(client: EngineClient, reference: string) {
  const isTag = !reference.includes("@") && !isImageId(reference);
  const named = isTag ? await orNull(client.inspectImage(reference)) : null;
  return { reference, tag_was: named?.Id ?? null };
}

/** After the pull; by tag if the digest was unknown. */
export async function findPulledImage(client: EngineClient, change: ImageChange): Promise<ImageInspect | null> {
  return (await findDesiredImage(client, change)) ?? (await orNull(client.inspectImage(change.reference)));
}

async function verifiedImage(
  client: EngineClient,
  scene: Pick<Scene, "image">,
  change: ImageChange,
): Promise<ImageInspect> {
  const image = await client.inspectImage(change.digest ?? change.reference);
  if (change.digest !== null && !hasDigest(image, change.digest)) {
    throw new PluginError("rejected", say("engine.pulled_another", { digest: change.digest }));
  }
  const [refusal] = platformRefusals(scene.image, image);
  if (refusal !== undefined) throw new PluginError("rejected", refusal.message);
  return image;
}

/** In tag mode the container is created from the tag, which must name exactly the verified image. */
export async function tagAsReferenced(
  client: EngineClient,
  change: Pick<ImageChange, "reference">,
  image: ImageInspect,
): Promise<void> {
  const { repository, tag, digest } = splitReference(change.reference);
  if (digest !== null) return;
  const present = await orNull(client.inspectImage(change.reference));
  if (present?.Id === image.Id) return;
  await client.tagImage(image.Id, repository, tag ?? "latest");
}

/** A registry's password is sent only to that registry. */
export function authFor(reference: string, auths: readonly RegistryAuth[]): RegistryAuth | null {
  const registry = registryOf(reference);
  return registry === null ? null : (auths.find((auth) => isSameRegistry(auth.host, registry)) ?? null);
}

/**
 * Named only for a container that does not run the engine's own platform (emulation): otherwise the engine chooses best, and
 * engines before API 1.41 refuse the parameter at create.
 */
export function foreignPlatform(scene: Pick<Scene, "image"> & { engine_platform: string }): string | null {
  if (scene.image === null) return null;
  const platform = platformOf(scene.image);
  const [os = "", architecture = ""] = platform.split("/");
  return `${os}/${architecture}` === scene.engine_platform || architecture === "" ? null : platform;
}
