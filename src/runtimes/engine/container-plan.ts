import { createHash } from "node:crypto";
import { say } from "../../messages/message.ts";
import type { ImageChange, UpdatePlan } from "../plan.ts";
import type { Refusal } from "../target.ts";
import { attachments, type Blueprint, blueprint, carriedCounts, mountPath } from "./carry.ts";
import type { EngineClient } from "./client.ts";
import { comparableConfig, comparableEndpoint, comparableHost } from "./compare.ts";
import { fieldDiffs } from "./diff.ts";
import { type ContainerInspect, type ImageInspect, isIdPrefix, isRunning, nameOf, platformOf } from "./objects.ts";
import { canonical, objectAt, type RawObject, stringAt, stringsAt } from "./raw.ts";
import { digestFor, isSameReference, isSameRepository, splitReference } from "./reference.ts";
import { imageRefusals, refusalsOf, type Surroundings, warningsOf } from "./refusals.ts";
import { orNull, type SharedReads } from "./survey.ts";

/** The one service of a single container. */
export const mainService = "main";

/** Everything that a plan is made from, as found at one moment. */
export interface Scene {
  container: ContainerInspect;
  image: ImageInspect | null;
  around: Surroundings;
  /** Destinations that come from `VolumesFrom` or the pod; null when one of the containers of `VolumesFrom` is gone. */
  inherited: ReadonlySet<string> | null;
  apiVersion: string;
  /** `linux/amd64`: what the engine runs without emulation. */
  engine_platform: string;
  /** An earlier run left it down; it counts as running. */
  is_owed: boolean;
}

export interface SceneSource {
  client: EngineClient;
  apiVersion: string;
  engine_platform: string;
  self: Surroundings["self"];
  address: Surroundings["address"];
  reads: SharedReads;
}

/** One container among all of the engine's, as found at one moment. */
export function sceneOf(
  source: Omit<SceneSource, "client" | "reads">,
  all: readonly ContainerInspect[],
  container: ContainerInspect,
  image: ImageInspect | null,
  owed: readonly string[] = [],
): Scene {
  return {
    container,
    image,
    around: { all, self: source.self, address: source.address },
    inherited: inheritedDestinations(container, all),
    apiVersion: source.apiVersion,
    engine_platform: source.engine_platform,
    is_owed: !isRunning(container) && owed.includes(nameOf(container)),
  };
}

/**
 * Whether the replacement is started, or the container itself if it is restored: an update changes what a container is created from,
 * not whether it runs.
 */
export function isToRunAgain({ container, is_owed: isOwed }: Pick<Scene, "container" | "is_owed">): boolean {
  return isRunning(container) || isOwed;
}

function inheritedDestinations(
  container: ContainerInspect,
  all: readonly ContainerInspect[],
): ReadonlySet<string> | null {
  const destinations = new Set<string>();
  for (const text of stringsAt(container.HostConfig.VolumesFrom)) {
    const id = text.split(":")[0] ?? "";
    const from = all.find((each) => nameOf(each) === id || isIdPrefix(id, each.Id));
    if (from === undefined) return null;
    for (const mount of from.Mounts ?? []) destinations.add(stringAt(mount.Destination));
  }
  // The container's own settings win over inherited ones.
  const own = [
    ...stringsAt(container.HostConfig.Binds).map((bind) => bind.split(":")[1] ?? bind),
    ...(Array.isArray(container.HostConfig.Mounts) ? container.HostConfig.Mounts : []).map((mount) => {
      return stringAt(objectAt(mount).Target);
    }),
  ];
  for (const destination of own) destinations.delete(mountPath(destination));
  // Podman lists the mounts of a pod among those of its members, and refuses a member that names one of them.
  const pod = podOf(container);
  const infra = pod === "" ? undefined : all.find((each) => each.IsInfra === true && podOf(each) === pod);
  for (const mount of infra?.Mounts ?? []) destinations.add(stringAt(mount.Destination));
  return destinations;
}

/** The ID of its pod in Podman, or empty text. */
function podOf(container: ContainerInspect): string {
  return stringAt(container.HostConfig.Pod);
}

/** The desired image on the engine, or null if it must be pulled. */
export async function findDesiredImage(client: EngineClient, change: ImageChange): Promise<ImageInspect | null> {
  if (change.digest === null) return null;
  const image = await orNull(client.inspectImage(change.digest));
  return image !== null && hasDigest(image, change.digest) ? image : null;
}

export function hasDigest(image: ImageInspect, wanted: string): boolean {
  const { repository, digest } = splitReference(wanted);
  return (image.RepoDigests ?? []).some((each) => {
    const split = splitReference(each);
    return split.digest === digest && isSameRepository(split.repository, repository);
  });
}

/** The plan for one container. */
export interface ContainerPlan {
  from: UpdatePlan["services"][number]["from"];
  to: UpdatePlan["services"][number]["to"];
  diff: UpdatePlan["diff"];
  carried: UpdatePlan["carried"];
  refusals: readonly Refusal[];
  warnings: readonly Refusal[];
  is_noop: boolean;
  hash: string;
}

/** The plan for one change to one container. The same scene and change give the same hash, whether or not the image is present yet. */
export function planContainer(
  scene: Scene,
  service: string,
  change: ImageChange,
  desired: ImageInspect | null,
): ContainerPlan {
  const { container, image } = scene;
  const reference = stringAt(container.Config.Image);
  const wantedDigest = change.digest === null ? null : splitReference(change.digest).digest;
  const digest = presentDigest(scene);
  const shape = planShape(scene, change, desired);
  const isSameImage = desired === null ? digest !== null && digest === wantedDigest : desired.Id === container.Image;
  return {
    from: { reference, digest, image_id: container.Image, is_running: isRunning(container) },
    to: { reference: change.reference, digest: wantedDigest, is_running: isToRunAgain(scene) },
    diff: shape === null ? [] : fieldDiffs(service, container, shape),
    carried: shape === null || image === null ? {} : carriedCounts(container, image, shape),
    refusals: [...sceneRefusals(scene), ...platformRefusals(image, desired)],
    warnings: warningsOf(container, scene.around),
    is_noop: isSameImage && isInPlace(scene, change),
    hash: planHash(container, scene.apiVersion, { reference: change.reference, digest: change.digest }),
  };
}

/** Whether a container with the desired image needs no run; one that an earlier run left down still has to be started. */
export function isInPlace(
  { container, is_owed: isOwed }: Pick<Scene, "container" | "is_owed">,
  { reference }: ImageChange,
): boolean {
  return isSameReference(stringAt(container.Config.Image), reference) && !isOwed;
}

/** The digest by which a container's image was pulled from the repository in its configuration; null for a local image. */
export function presentDigest({ container, image }: Pick<Scene, "container" | "image">): string | null {
  if (image === null) return null;
  return digestFor(image.RepoDigests ?? [], splitReference(stringAt(container.Config.Image)).repository);
}

/** The blueprint as far as it is known: without the desired image, only its reference differs from the current one. */
function planShape(scene: Scene, change: ImageChange, desired: ImageInspect | null): Blueprint | null {
  const { container, image } = scene;
  if (image === null) return null;
  const known = desired ?? { Id: "", Config: change.image_config ?? image.Config };
  return blueprint({
    container,
    oldImage: image,
    newImage: desired === null && change.image_config === null ? { ...image, Id: container.Image } : known,
    reference: change.reference,
    inherited: scene.inherited ?? new Set(),
    apiVersion: scene.apiVersion,
  });
}

/** Why the container of a scene cannot be recreated, whatever the change. */
export function sceneRefusals(scene: Scene): readonly Refusal[] {
  const refusals = [...refusalsOf(scene.container, scene.around), ...imageRefusals(scene.container, scene.image)];
  if (scene.inherited === null) {
    refusals.push({
      code: "volumes_from_missing",
      message: say("refusals.volumes_from_missing"),
    });
  }
  return refusals;
}

export function platformRefusals(old: ImageInspect | null, desired: ImageInspect | null): readonly Refusal[] {
  if (old === null || desired === null) return [];
  const [is, wants] = [platformOf(desired), platformOf(old)];
  // An image without a variant runs on every variant of its architecture.
  if (is === wants || desired.Architecture === "" || `${is}/` === `${wants}/`) return [];
  const isSameMachine = desired.Os === old.Os && desired.Architecture === old.Architecture;
  if (isSameMachine && ((desired.Variant ?? "") === "" || (old.Variant ?? "") === "")) return [];
  return [{ code: "platform_mismatch", message: say("refusals.platform_mismatch", { image: is, container: wants }) }];
}

/**
 * SHA-256 over the container's settings and the desired state. What a restart alone changes (times, process IDs, addresses
 * from a pool, endpoint IDs) and what identifies this one container (ID, hostname from the ID) is left out: an
 * identical one is the same target (decision 8).
 */
export function planHash(container: ContainerInspect, apiVersion: string, desired: RawObject): string {
  const { Hostname: hostname, ...config } = comparableConfig(container.Config, container);
  const found = {
    config: { ...config, Hostname: hostname },
    host_config: { ...comparableHost(container.HostConfig), RestartPolicy: container.HostConfig.RestartPolicy },
    networks: attachments(container, apiVersion).map(({ network, endpoint }) => {
      // If the engine does not say who chose the address, it may be random for this start.
      const { MacAddress: _address, ...configured } = endpoint;
      return { network, endpoint: comparableEndpoint(configured) };
    }),
    mounts: (container.Mounts ?? [])
      .map((mount) => [mount.Destination, mount.Type, mount.Name ?? mount.Source, mount.RW])
      .sort(),
    image: container.Image,
    is_running: isRunning(container),
  };
  return createHash("sha256").update(canonical({ found, desired })).digest("hex");
}
