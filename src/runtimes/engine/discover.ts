import { say, toText } from "../../messages/message.ts";
import type { Refusal, Target, TargetRef, TargetService } from "../target.ts";
import { composeOf } from "./compose/labels.ts";
import { type SceneSource, sceneRefusals } from "./container-plan.ts";
import { differingReplicas } from "./group/replicas.ts";
import { composeGroups, type FoundTarget, findSurvey, type Member, targetIn } from "./group/target.ts";
import { dependantRefusals, dependantsOf, dependantWarnings, type Replaced } from "./group/target-plan.ts";
import { type ContainerInspect, type ImageInspect, isIdPrefix, nameOf, platformOf } from "./objects.ts";
import { stringAt, stringMapAt } from "./raw.ts";
import { digestFor, splitReference } from "./reference.ts";
import { warningsOf } from "./refusals.ts";
import { wasStarted } from "./situation.ts";

/** Labels are only shown and searched: more or longer ones are cut. */
const maxLabels = 200;
const maxLabelLength = 1000;

/** Every compose group and container of the engine as a target, with the reason if it cannot be updated. */
export async function discoverTargets(source: SceneSource): Promise<readonly Target[]> {
  const survey = await findSurvey(source);
  const refs: TargetRef[] = [
    ...[...composeGroups(survey.all).keys()].sort().map((id) => ({ kind: "compose" as const, id })),
    ...survey.all.map((container) => ({ kind: "container" as const, id: nameOf(container) })),
  ];
  const targets: Target[] = [];
  for (const ref of refs) targets.push(await describeTarget(targetIn(survey, ref)));
  return targets;
}

export async function describeTarget(found: FoundTarget): Promise<Target> {
  const members: { member: Member; image: ImageInspect | null; refusals: readonly Refusal[] }[] = [];
  const desired: Replaced[] = [];
  for (const member of found.members) {
    const scene = await found.sceneOf(member.container);
    const replaced = { scene, service: member.service, because: "desired" as const, change: null, desired: null };
    desired.push(replaced);
    members.push({ member, image: scene.image, refusals: sceneRefusals(scene) });
  }
  const dependants = await dependantsOf(found, desired);
  const names = [...new Set(found.members.map((each) => each.service))];
  const services = names.map((service) => {
    const replicas = members.filter(({ member }) => member.service === service);
    return describeService(
      service,
      replicas.map(({ member }) => member.container),
      replicas[0]?.image ?? null,
    );
  });
  const [first] = found.members;
  const labels = first === undefined ? {} : boundedLabels(stringMapAt(first.container.Config.Labels));
  // By the name that plans use: each replica has its own.
  const labelOf = ({ container, service }: Member) =>
    found.members.filter((each) => each.service === service).length > 1 ? nameOf(container) : service;
  const own = found.members.flatMap((member) =>
    warningsOf(member.container, { all: found.all }).map((each) =>
      each.code === "compose_file" ? each : told(found.ref, labelOf(member), each),
    ),
  );
  const warnings = [...own, ...dependants.flatMap((each) => dependantWarnings(found, each))];
  const refusals = members.flatMap(({ member, refusals: each }) =>
    each.map((one) => told(found.ref, member.service, one)),
  );
  if (found.ref.kind === "container") {
    const all = [...refusals, ...dependants.flatMap(dependantRefusals)];
    return { ref: found.ref, name: found.ref.id, services, refusals: all, warnings, labels };
  }
  // A group can be bound without a service that cannot be updated.
  const isAnyFree = members.some((each) => each.refusals.length === 0);
  const differing = names.filter((service) => {
    return differingReplicas(found.members.filter((each) => each.service === service).map((each) => each.container));
  });
  const replicas = differing.map((service) => ({
    code: "replicas_differ",
    message: say("refusals.replicas_differ", { service }),
  }));
  return {
    ref: found.ref,
    name: found.ref.id,
    services,
    refusals: isAnyFree ? [] : distinct(refusals),
    warnings: distinct([...(isAnyFree ? refusals : []), ...replicas, ...warnings]),
    labels: projectLabels(first?.container),
  };
}

function told(ref: TargetRef, service: string, notice: Refusal): Refusal {
  return ref.kind === "container"
    ? notice
    : { ...notice, message: say("phrases.about", { name: service, said: notice.message }) };
}

function distinct(notices: readonly Refusal[]): readonly Refusal[] {
  return notices.filter(
    (each, index) => notices.findIndex((other) => toText(other.message) === toText(each.message)) === index,
  );
}

/** For a group, only what concerns the whole project. */
function projectLabels(container: ContainerInspect | undefined): Readonly<Record<string, string>> {
  const compose = container === undefined ? null : composeOf(container);
  if (compose === null || container === undefined) return {};
  const labels = Object.entries(stringMapAt(container.Config.Labels)).filter(([key]) =>
    key.includes("compose.project"),
  );
  return boundedLabels(Object.fromEntries(labels));
}

function describeService(
  name: string,
  replicas: readonly ContainerInspect[],
  image: ImageInspect | null,
): TargetService {
  const [first] = replicas;
  const reference = stringAt(first?.Config.Image);
  const bare = (text: string) => text.replace(/^sha256:/, "");
  const isShortId = isIdPrefix(bare(reference), bare(first?.Image ?? ""));
  return {
    name,
    containers: replicas.map(nameOf),
    artifact: {
      kind: "image",
      // A typed ID prefix does not name a repository.
      reference: isShortId ? (first?.Image ?? "") : reference,
      image_id: first?.Image ?? "",
      digest: image === null ? null : digestFor(image.RepoDigests ?? [], splitReference(reference).repository),
      platform: image === null ? "" : platformOf(image),
    },
    state: worst(everStarted(replicas).map(stateOf)),
  };
}

/** A container that never started says nothing about a service with others: compose creates such ones in passing. */
function everStarted(replicas: readonly ContainerInspect[]): readonly ContainerInspect[] {
  const started = replicas.filter(wasStarted);
  return started.length === 0 ? replicas : started;
}

/** A service has the state of its worst replica. */
function worst(states: readonly TargetService["state"][]): TargetService["state"] {
  const order = ["restarting", "unknown", "paused", "stopped", "running"] as const;
  return order.find((state) => states.includes(state)) ?? "unknown";
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
