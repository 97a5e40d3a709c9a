import * as v from "valibot";
import type { ContainerInspect, ImageInspect } from "../objects.ts";
import { listAt, objectAt, type RawObject, stringAt, stringMapAt } from "../raw.ts";

/** The labels by which compose knows its containers; the docker and the podman way to compose both write them. */
export const composeLabels = {
  project: "com.docker.compose.project",
  service: "com.docker.compose.service",
  number: "com.docker.compose.container-number",
  oneoff: "com.docker.compose.oneoff",
  depends_on: "com.docker.compose.depends_on",
  config_files: "com.docker.compose.project.config_files",
  working_dir: "com.docker.compose.project.working_dir",
  environment_file: "com.docker.compose.project.environment_file",
  config_hash: "com.docker.compose.config-hash",
  image: "com.docker.compose.image",
  version: "com.docker.compose.version",
} as const;

/** What podman's own compose writes beside, or in older versions in place of, the project label. */
const podmanProject = "io.podman.compose.project";

const dependencyConditions = ["service_started", "service_healthy", "service_completed_successfully"] as const;
export type DependencyCondition = (typeof dependencyConditions)[number];

export interface ComposeDependency {
  service: string;
  /** An unknown or absent one is `service_started`: the order holds, and nothing is waited for that may never come. */
  condition: DependencyCondition;
  /** Whether it is to be restarted when what it depends on is replaced. */
  restarts: boolean;
}

/**
 * What a container's labels say about the compose project that it belongs to. Anybody who can create containers writes labels:
 * the texts are not to be trusted, neither as paths nor as arguments.
 */
export interface ComposeContainer {
  project: string;
  /** As it is written in the file: case is kept. */
  service: string;
  /** 1 for the first replica; null for one-off containers. */
  number: number | null;
  /** Made by `compose run`, not by `up`. */
  is_oneoff: boolean;
  depends_on: readonly ComposeDependency[];
  /** In the order in which they are merged. */
  config_files: readonly string[];
  working_dir: string | null;
  /** Those that were named with `--env-file`; the project's own `.env` is not among them. */
  environment_files: readonly string[];
  config_hash: string | null;
  /** The version of compose that made it, e.g. `5.6.0`. */
  version: string | null;
}

type Labelled = Pick<ContainerInspect, "Config">;

/** Null for a container that no compose project has; one without a service name belongs to none either. */
export function composeOf(container: Labelled): ComposeContainer | null {
  const labels = stringMapAt(container.Config.Labels);
  const project = labels[composeLabels.project] ?? labels[podmanProject] ?? "";
  const service = labels[composeLabels.service] ?? "";
  if (project === "" || service === "") return null;
  const number = Number(labels[composeLabels.number]);
  return {
    project,
    service,
    number: Number.isInteger(number) && number > 0 ? number : null,
    is_oneoff: (labels[composeLabels.oneoff] ?? "").toLowerCase() === "true",
    depends_on: parseDependencies(labels[composeLabels.depends_on] ?? ""),
    config_files: listed(labels[composeLabels.config_files]),
    working_dir: labels[composeLabels.working_dir] || null,
    environment_files: listed(labels[composeLabels.environment_file]),
    config_hash: labels[composeLabels.config_hash] || null,
    version: labels[composeLabels.version] || null,
  };
}

/** Made by `podman-compose`, which compares its file with a hash of its own and nothing with containers. */
export function isOfPodmanCompose(container: Labelled): boolean {
  return (stringMapAt(container.Config.Labels)[podmanProject] ?? "") !== "";
}

function listed(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/**
 * Reads `db:service_healthy:true,cache:service_started:false`. Older versions left the restart flag out (`db:service_healthy`),
 * the oldest the condition too (`db`); compose itself then assumes a restart, and so does this. Each service once, the last wins.
 */
export function parseDependencies(label: string): readonly ComposeDependency[] {
  const found = new Map<string, ComposeDependency>();
  for (const entry of listed(label)) {
    const [service = "", condition, restart] = entry.split(":").map((part) => part.trim());
    if (service === "") continue;
    found.set(service, {
      service,
      condition: dependencyConditions.find((each) => each === condition) ?? "service_started",
      restarts: restart === undefined ? true : ["1", "t", "true"].includes(restart.toLowerCase()),
    });
  }
  return [...found.values()];
}

const Platform = v.object({ os: v.string(), architecture: v.string(), variant: v.nullish(v.string()) });

/** The first version that writes the digest of the platform's manifest, where the engine tells it, in place of the image's id. */
const manifestSince = [5, 4] as const;

/**
 * The label with which compose compares a container with its image, of the kind that it would write itself. Which kind shows in
 * the old value: the platform manifest's digest (new versions on the containerd image store) or the image's id. Where both are one,
 * because the old image had a single manifest, the version of compose decides. Nothing for a container without that label.
 */
export function composeImageLabel(
  container: ContainerInspect,
  newImage: Pick<ImageInspect, "Id" | "Os" | "Architecture" | "Variant">,
): RawObject {
  const labels = stringMapAt(container.Config.Labels);
  const old = labels[composeLabels.image];
  if (old === undefined) return {};
  const oldManifest = stringAt(objectAt(container.ImageManifestDescriptor).digest);
  const isId = old === container.Image;
  const isManifest = oldManifest !== "" && old === oldManifest;
  const wantsManifest = isId === isManifest ? writesManifests(labels[composeLabels.version] ?? "") : isManifest;
  return { [composeLabels.image]: (wantsManifest ? platformManifest(newImage) : null) ?? newImage.Id };
}

function writesManifests(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  return major > manifestSince[0] || (major === manifestSince[0] && minor >= manifestSince[1]);
}

/**
 * Among what is here of a multi-platform image the manifest that runs on the engine; attestations are no images. Null where the
 * engine does not tell (classic store, older API), or where several are here and none is for this platform.
 */
function platformManifest(image: Pick<ImageInspect, "Os" | "Architecture" | "Variant">): string | null {
  const present = listAt(objectAt(image).Manifests)
    .map(objectAt)
    .filter((each) => each.Kind === "image" && each.Available === true && stringAt(each.ID) !== "");
  const fits = (manifest: RawObject, withVariant: boolean) => {
    const platform = v.safeParse(Platform, objectAt(manifest.ImageData).Platform);
    if (!platform.success || platform.output.os !== image.Os) return false;
    const isSameVariant = (platform.output.variant ?? "") === (image.Variant ?? "");
    return platform.output.architecture === image.Architecture && (isSameVariant || !withVariant);
  };
  const chosen =
    present.find((each) => fits(each, true)) ??
    present.find((each) => fits(each, false)) ??
    (present.length === 1 ? present[0] : undefined);
  return chosen === undefined ? null : stringAt(chosen.ID);
}
