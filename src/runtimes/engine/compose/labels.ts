import * as v from "valibot";
import type { ContainerInspect, ImageInspect } from "../objects.ts";
import { listAt, objectAt, type RawObject, stringAt, stringMapAt } from "../raw.ts";

/** The labels of compose's containers; docker's and podman's compose both write them. */
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

/** Podman's own compose writes it beside the project label, older versions instead of it. */
const podmanProject = "io.podman.compose.project";

const dependencyConditions = ["service_started", "service_healthy", "service_completed_successfully"] as const;
export type DependencyCondition = (typeof dependencyConditions)[number];

export interface ComposeDependency {
  service: string;
  /** An unknown or missing one is `service_started`: the order holds, and nothing waits forever. */
  condition: DependencyCondition;
  /** Whether it restarts when its dependency is replaced. */
  restarts: boolean;
}

/**
 * A container's labels about its compose project. Anyone who can create containers writes labels: never trust the texts as paths or
 * arguments.
 */
export interface ComposeContainer {
  project: string;
  /** As written in the file, in its case. */
  service: string;
  /** 1 for the first replica; null for one-off containers. */
  number: number | null;
  /** Created by `compose run`, not by `up`. */
  is_oneoff: boolean;
  depends_on: readonly ComposeDependency[];
  /** In merge order. */
  config_files: readonly string[];
  working_dir: string | null;
  /** Those given with `--env-file`; the project's own `.env` is not among them. */
  environment_files: readonly string[];
  config_hash: string | null;
  /** The version of compose that created it, e.g. `5.6.0`. */
  version: string | null;
}

type Labelled = Pick<ContainerInspect, "Config">;

/** Null for a container without a compose project or a service name. */
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

/** Created by `podman-compose`, which compares its file with its own hash, and nothing with containers. */
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
 * Parses `db:service_healthy:true,cache:service_started:false`. Older versions omitted the restart flag (`db:service_healthy`), the oldest
 * also the condition (`db`); like compose, this assumes a restart. Each service once, the last wins.
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

/** The first version that writes the digest of the platform's manifest, when the engine reports it, instead of the image's id. */
const manifestSince = [5, 4] as const;

/**
 * The label by which compose compares a container with its image, of the kind that compose itself would write. The old value shows the
 * kind: the platform manifest's digest (new versions on the containerd image store) or the image's id. When both are equal, because the old
 * image had a single manifest, compose's version decides. None for a container without that label.
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
 * The local manifest of a multi-platform image that runs on the engine; attestations are no images. Null when the engine does not report it
 * (classic store, older API), or when several exist and none is for this platform.
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
