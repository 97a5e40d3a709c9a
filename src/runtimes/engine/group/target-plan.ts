import { createHash } from "node:crypto";
import { PluginError } from "../../../errors.ts";
import { say, toText } from "../../../messages/message.ts";
import type { ContainersDetail, PlannedContainer } from "../../containers-detail.ts";
import type { FieldDiff, ImageChange, PlanOptions, UpdatePlan } from "../../plan.ts";
import type { Refusal } from "../../target.ts";
import type { EngineClient } from "../client.ts";
import { composeOf } from "../compose/labels.ts";
import {
  type ContainerPlan,
  findDesiredImage,
  isToRunAgain,
  planContainer,
  planHash,
  type Scene,
  sceneRefusals,
} from "../container-plan.ts";
import { leftoverOf } from "../names.ts";
import { type ContainerInspect, type ImageInspect, isRunning, nameOf } from "../objects.ts";
import { canonical } from "../raw.ts";
import { requirementWarnings } from "../requirements.ts";
import { wasStarted } from "../situation.ts";
import { clusters, type Need, ordered } from "./order.ts";
import { differingReplicas } from "./replicas.ts";
import { startFirstRefusals } from "./start-first.ts";
import type { FoundTarget } from "./target.ts";
import { becauseOf, tiesTo } from "./ties.ts";

/** A container that a run replaces. */
export interface Replaced {
  scene: Scene;
  service: string;
  because: PlannedContainer["because"];
  /** What it becomes; null if it is recreated unchanged. */
  change: ImageChange | null;
  desired: ImageInspect | null;
  /** Ends by design: it runs once from the new image, before whatever needs its completion. */
  is_job?: boolean;
}

/** A plan with what it is performed from. */
export interface TargetPlan {
  plan: UpdatePlan<ContainersDetail>;
  /** In start order. */
  replaced: readonly Replaced[];
  /** The same, as groups that go down and up together. */
  clusters: readonly (readonly Replaced[])[];
}

/** Finds the new image of a change, as far as the engine has it. */
export type DesiredImage = (client: EngineClient, change: ImageChange) => Promise<ImageInspect | null>;

/** Plans changes to services of a target. Read-only. */
export async function planTarget(
  client: EngineClient,
  found: FoundTarget,
  changes: readonly ImageChange[],
  wanted: PlanOptions,
  desiredImage: DesiredImage = findDesiredImage,
): Promise<TargetPlan> {
  // As in the plan itself, so that planning again from it gives the same plan.
  const { start_first } = wanted;
  const options = { start_first, drain_seconds: start_first ? wanted.drain_seconds : 0 };
  const planned: { replaced: Replaced; plan: ContainerPlan }[] = [];
  const services: UpdatePlan["services"][number][] = [];
  const refusals: Refusal[] = [];
  for (const change of changes) {
    const members = found.members.filter((each) => each.service === change.service);
    const [first] = members;
    if (first === undefined) {
      throw new PluginError("not_found", say("engine.no_service", { name: found.ref.id, service: change.service }));
    }
    const desired = await desiredImage(client, change);
    for (const { container, service } of members) {
      const scene = await found.sceneOf(container);
      const plan = planContainer(scene, service, change, desired);
      const is_job = isJob(found, container);
      planned.push({ replaced: { scene, service, because: "desired", change, desired, is_job }, plan });
    }
    const plans = planned.filter(({ replaced }) => replaced.change === change).map(({ plan }) => plan);
    const [shown] = plans;
    if (shown !== undefined) services.push(serviceOf(change.service, plans, shown));
    if (differingReplicas(members.map((each) => each.container))) {
      refusals.push({
        code: "replicas_differ",
        message: say("refusals.replicas_differ", { service: change.service }),
      });
    }
  }
  const everything = planned.map(({ replaced }) => replaced);
  const moving = planned.filter(({ plan }) => !plan.is_noop).map(({ replaced }) => replaced);
  const dependants = await dependantsOf(found, moving);
  const arranged = arrange([...moving, ...dependants].map(arrangeable));
  // Whether an image is already here must not change what was approved.
  const hashed = [...everything, ...(await dependantsOf(found, everything))];
  const label = (replaced: Replaced) => labelOf(found, replaced);
  return {
    plan: {
      ref: found.ref,
      changes,
      services,
      detail: { containers: arranged.order.map(plannedContainer) },
      order: options.start_first ? "start_first" : "stop_first",
      drain_seconds: options.drain_seconds,
      owed: owedAmong(hashed.map(({ scene }) => scene)),
      // Notices about files need more than the engine: the caller that shows the plan adds them.
      files: [],
      diff: diffOf(found, planned),
      carried: planned.map(({ plan }) => plan.carried).reduce(added, {}),
      refusals: [
        ...planned.flatMap(({ replaced, plan }) => plan.refusals.map((each) => told(each, label(replaced)))),
        ...refusals,
        ...dependants.flatMap((each) => dependantRefusals(each)),
        ...arranged.refusals,
        ...(options.start_first
          ? moving.flatMap((each) => {
              const sharing = arranged.clusters.find((cluster) => cluster.includes(each)) ?? [];
              const hanging = new Set([...dependants, ...sharing.filter((other) => other !== each)]);
              return startFirstRefusals(each, [...hanging], label(each));
            })
          : []),
      ],
      warnings: distinct([
        ...dependants.flatMap((each) => dependantWarnings(found, each)),
        ...planned.flatMap(({ replaced, plan }) =>
          // `files` has the exact notices about compose files.
          [...plan.warnings.filter((each) => each.code !== "compose_file"), ...jobWarnings(replaced)].map((each) =>
            told(each, label(replaced)),
          ),
        ),
      ]),
      is_noop: moving.length === 0,
      hash: hashOf(found, hashed, changes, options),
    },
    replaced: arranged.order,
    clusters: arranged.clusters,
  };
}

function serviceOf(
  service: string,
  plans: readonly ContainerPlan[],
  shown: ContainerPlan,
): UpdatePlan["services"][number] {
  return {
    service,
    from: { ...shown.from, is_running: plans.some((plan) => plan.from.is_running) },
    to: { ...shown.to, is_running: plans.some((plan) => plan.to.is_running) },
  };
}

/** Replicas change alike: each line once. */
function diffOf(
  found: FoundTarget,
  planned: readonly { replaced: Replaced; plan: ContainerPlan }[],
): readonly FieldDiff[] {
  if (found.ref.kind === "container") return planned.flatMap(({ plan }) => plan.diff);
  const seen = new Set<string>();
  return planned
    .flatMap(({ plan }) => plan.diff)
    .filter((each) => {
      const key = canonical(each);
      return seen.has(key) ? false : seen.add(key);
    });
}

function added(left: Readonly<Record<string, number>>, right: Readonly<Record<string, number>>) {
  const sum: Record<string, number> = { ...left };
  for (const [key, count] of Object.entries(right)) sum[key] = (sum[key] ?? 0) + count;
  return sum;
}

function distinct(notices: readonly Refusal[]): readonly Refusal[] {
  const seen = new Set<string>();
  return notices.filter(({ code, message }) => {
    const key = `${code} ${toText(message)}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

/** A group's container in a message; null when the target is that container. */
function labelOf(found: FoundTarget, { service, scene }: Replaced): string | null {
  if (found.ref.kind === "container") return null;
  const replicas = found.members.filter((each) => each.service === service);
  return replicas.length > 1 ? nameOf(scene.container) : service;
}

function told(notice: Refusal, label: string | null): Refusal {
  return label === null ? notice : { ...notice, message: say("phrases.about", { name: label, said: notice.message }) };
}

/**
 * What must be recreated because it depends on the id of a replaced container, or because its compose file asks for a restart with it; and
 * its dependants in turn.
 */
export async function dependantsOf(found: FoundTarget, replaced: readonly Replaced[]): Promise<readonly Replaced[]> {
  const included = new Map(replaced.map((each) => [each.scene.container.Id, each.scene.container]));
  const dependants: Replaced[] = [];
  for (const owner of included.values()) {
    for (const container of found.all) {
      // An earlier run's backup is being removed, and nothing depends on it.
      if (included.has(container.Id) || leftoverOf(nameOf(container)) !== null) continue;
      const because = becauseOf(container, owner);
      if (because === null) continue;
      included.set(container.Id, container);
      const member = found.members.find((each) => each.container.Id === container.Id);
      const service = member?.service ?? nameOf(container);
      dependants.push({ scene: await found.sceneOf(container), service, because, change: null, desired: null });
    }
  }
  return dependants;
}

/** What recreating such a container would lose or start, under the name the rest of the target has for it. */
export function dependantWarnings(found: FoundTarget, replaced: Replaced): readonly Refusal[] {
  const { container, around } = replaced.scene;
  const label = labelOf(found, replaced) ?? nameOf(container);
  return [...(container.Warnings ?? []), ...requirementWarnings(container, around.all)].map((each) =>
    told(each, label),
  );
}

export function dependantRefusals({ scene }: Replaced): readonly Refusal[] {
  const [refusal] = sceneRefusals(scene);
  if (refusal === undefined) return [];
  const facts = { name: nameOf(scene.container), cause: refusal.message };
  return [{ code: "has_dependents", message: say("refusals.has_dependents", facts) }];
}

export function plannedContainer({ scene, service, because }: Replaced): PlannedContainer {
  return { name: nameOf(scene.container), service, because, is_running: isToRunAgain(scene) };
}

export function owedAmong(scenes: readonly Scene[]): readonly string[] {
  return scenes.filter((scene) => scene.is_owed).map(({ container }) => nameOf(container));
}

/** An item to put in order, with the containers that identify it and declare its dependencies; for a rollback, past and present ones. */
export interface Arrangeable<T> {
  item: T;
  containers: readonly ContainerInspect[];
}

/** Who must exist before whom, and who goes down together. */
export function arrange<T>(all: readonly Arrangeable<T>[]): {
  order: readonly T[];
  clusters: readonly (readonly T[])[];
  refusals: readonly Refusal[];
} {
  const needs: Need<Arrangeable<T>>[] = [];
  const joined: Need<Arrangeable<T>>[] = [];
  for (const from of all) {
    for (const to of all) {
      if (from === to) continue;
      const pairs = from.containers.flatMap((left) => to.containers.map((right) => [left, right] as const));
      const ties = pairs.flatMap(([left, right]) => tiesTo(left, right));
      if (ties.length > 0 || pairs.some(([left, right]) => dependsOn(left, right))) needs.push({ from, to });
      if (ties.includes("namespace")) joined.push({ from, to });
    }
  }
  const itemsOf = (found: readonly Arrangeable<T>[]) => found.map((each) => each.item);
  const found = ordered(all, needs);
  if ("order" in found) {
    const together = clusters(found.order, joined, needs).map(itemsOf);
    return { order: together.flat(), clusters: together, refusals: [] };
  }
  const names = found.circle.map(({ containers: [container] }) => (container === undefined ? "" : nameOf(container)));
  const message = say("refusals.dependency_cycle", { names });
  return { order: itemsOf(all), clusters: [], refusals: [{ code: "dependency_cycle", message }] };
}

/** A replacement in the form of `arrange`. */
export function arrangeable(replaced: Replaced): Arrangeable<Replaced> {
  return { item: replaced, containers: [replaced.scene.container] };
}

/** It succeeded, and another service of the project waits for exactly that before it starts. */
function isJob(found: FoundTarget, container: ContainerInspect): boolean {
  const { State: state } = container;
  const labels = composeOf(container);
  if (labels === null || isRunning(container) || !wasStarted(container) || state.ExitCode !== 0) return false;
  return found.members.some((each) => {
    const needs = composeOf(each.container)?.depends_on ?? [];
    return needs.some(({ service, condition }) => {
      return service === labels.service && condition === "service_completed_successfully";
    });
  });
}

function jobWarnings({ is_job: isRunOnce }: Replaced): readonly Refusal[] {
  if (isRunOnce !== true) return [];
  return [
    {
      code: "job",
      message: say("refusals.job"),
    },
  ];
}

/** By `depends_on` of the compose file. */
function dependsOn(container: ContainerInspect, other: ContainerInspect): boolean {
  const [labels, needed] = [composeOf(container), composeOf(other)];
  if (labels === null || needed === null || labels.project !== needed.project) return false;
  return labels.depends_on.some((each) => each.service === needed.service);
}

function hashOf(
  found: FoundTarget,
  hashed: readonly Replaced[],
  changes: readonly ImageChange[],
  options: PlanOptions,
): string {
  const parts = hashed.map(({ scene, service, change, is_job: isRunOnce }) => {
    const desired = change === null ? {} : { reference: change.reference, digest: change.digest };
    const more = [...(isRunOnce === true ? ["job"] : []), ...(scene.is_owed ? ["owed"] : [])];
    return [service, nameOf(scene.container), planHash(scene.container, scene.apiVersion, desired), ...more];
  });
  const wanted = changes.map(({ service, reference, digest }) => ({ service, reference, digest }));
  return createHash("sha256")
    .update(canonical({ target: found.ref, parts: parts.toSorted(), wanted, ...options }))
    .digest("hex");
}
