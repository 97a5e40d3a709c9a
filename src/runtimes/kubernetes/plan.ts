import { createHash } from "node:crypto";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { type Change, ofImages, type UpdatePlan } from "../plan.ts";
import type { Refusal, TargetRef } from "../target.ts";
import type { Pod } from "./objects.ts";
import { targetOf } from "./target.ts";
import { containersIn, type Found, stateOf } from "./workloads.ts";

export interface PatchedImage {
  container: string;
  before: string;
  after: string;
}

/** What a plan for a workload says beyond the common part. */
export interface RolloutDetail extends Record<string, unknown> {
  /** `kind/namespace/name`. */
  workload: string;
  /** The images before the run and what they become, by container; only these are patched. */
  images: readonly (PatchedImage & { is_init: boolean })[];
}

export function planUpdate(
  ref: TargetRef,
  found: Found,
  pods: readonly Pod[],
  changes: readonly Change[],
): UpdatePlan<RolloutDetail> {
  const target = targetOf(found, pods);
  const containers = containersIn(found.template);
  const wanted = ofImages(changes);
  const services = wanted.map(({ service, reference, digest }) => {
    const running = target.services.find(({ name }) => name === service);
    if (running === undefined)
      throw new PluginError("not_found", say("kubernetes.container_missing", { container: service, target: ref.id }));
    const { artifact } = running;
    const isRunning = running.state !== "stopped";
    return {
      service,
      from: { reference: artifact.reference, digest: artifact.digest, image_id: "", is_running: isRunning },
      to: { reference, digest: digest?.split("@")[1] ?? null, is_running: isRunning },
    };
  });
  const images = services.flatMap(({ service, to }) => {
    const { image: before = "", is_init = false } = containers.find(({ name }) => name === service) ?? {};
    return before === to.reference ? [] : [{ container: service, is_init, before, after: to.reference }];
  });
  return {
    ref,
    changes,
    services,
    detail: { workload: `${ref.kind}/${ref.id}`, images },
    order: "start_first",
    drain_seconds: 0,
    owed: [],
    files: [],
    diff: images.map(({ container, is_init, before, after }) => ({
      service: container,
      path: `spec.${found.workload === null ? "jobTemplate.spec." : ""}template.spec.${is_init ? "initContainers" : "containers"}[${container}].image`,
      before,
      after,
      because: "desired",
    })),
    carried: {},
    refusals: [...target.refusals, ...withoutEffect(services, images)],
    warnings: target.warnings,
    is_noop: images.length === 0,
    hash: hashOf(found, images),
  };
}

/** Of the workload's present state and what it is to become. */
export function hashOf(found: Found, images: readonly PatchedImage[]): string {
  const wanted = images.map(({ container, after }) => [container, after]);
  return createHash("sha256")
    .update(`${stateOf(found)}\n${JSON.stringify(wanted)}`)
    .digest("hex");
}

/** A reference that the template has already changes nothing there, so no pod would be replaced. */
function withoutEffect(services: UpdatePlan["services"], images: RolloutDetail["images"]): Refusal[] {
  return services.flatMap(({ service, from, to }) => {
    const isSet = images.every(({ container }) => container !== service);
    if (isSet && from.reference !== to.reference) {
      const { reference } = to;
      return [{ code: "rollout_unfinished", message: say("kubernetes.rollout_unfinished", { service, reference }) }];
    }
    const isMoved =
      from.reference === to.reference && from.digest !== null && to.digest !== null && from.digest !== to.digest;
    if (!isMoved) return [];
    return [
      { code: "same_reference", message: say("kubernetes.same_reference", { service, reference: to.reference }) },
    ];
  });
}
