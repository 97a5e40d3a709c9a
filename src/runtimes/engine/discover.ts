import type { Target, TargetService } from "../runtime.ts";
import { type ContainerInspect, type ImageInspect, nameOf, platformOf } from "./objects.ts";
import { mainService, type SceneSource } from "./plan.ts";
import { stringAt, stringMapAt } from "./raw.ts";
import { digestFor, splitReference } from "./reference.ts";
import { imageRefusals, refusalsOf, type Surroundings, warningsOf } from "./refusals.ts";
import { imageCache, surveyContainers } from "./survey.ts";

/** Labels are shown and searched, not kept: more or longer ones are cut. */
const maxLabels = 200;
const maxLabelLength = 1000;

/** Every container of the engine as a target; those that cannot be updated say why. */
export async function discoverTargets(source: SceneSource): Promise<readonly Target[]> {
  const all = await surveyContainers(source.client);
  const around = { all, self: source.self, address: source.address };
  const imageOf = imageCache(source.client);
  const targets: Target[] = [];
  for (const container of all) targets.push(describeTarget(container, await imageOf(container.Image), around));
  return targets;
}

export function describeTarget(container: ContainerInspect, image: ImageInspect | null, around: Surroundings): Target {
  const name = nameOf(container);
  return {
    ref: { kind: "container", id: name },
    name,
    services: [describeService(container, image)],
    refusals: [...refusalsOf(container, around), ...imageRefusals(container, image)],
    warnings: warningsOf(container, around),
    labels: boundedLabels(stringMapAt(container.Config.Labels)),
  };
}

function describeService(container: ContainerInspect, image: ImageInspect | null): TargetService {
  const reference = stringAt(container.Config.Image);
  return {
    name: mainService,
    containers: [nameOf(container)],
    image: reference,
    image_id: container.Image,
    digest: image === null ? null : digestFor(image.RepoDigests ?? [], splitReference(reference).repository),
    platform: image === null ? "" : platformOf(image),
    state: stateOf(container),
  };
}

function stateOf(container: ContainerInspect): TargetService["state"] {
  const { State: state } = container;
  if (state.Paused === true) return "paused";
  if (state.Restarting === true) return "restarting";
  if (state.Running === true) return "running";
  return ["created", "exited", "dead"].includes(state.Status ?? "") ? "stopped" : "unknown";
}

function boundedLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept = Object.entries(labels)
    .slice(0, maxLabels)
    .map(([key, value]) => [key.slice(0, maxLabelLength), value.slice(0, maxLabelLength)] as const);
  return Object.fromEntries(kept);
}
