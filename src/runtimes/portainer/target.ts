import { say } from "../../messages/message.ts";
import { type ContainerInspect, nameOf, platformOf } from "../engine/objects.ts";
import { digestFor, splitReference } from "../engine/reference.ts";
import { isOurselves } from "../engine/refusals.ts";
import type { RuntimeContext } from "../runtime.ts";
import type { ImageArtifact, Refusal, Target, TargetService } from "../target.ts";
import type { Configured } from "./compose.ts";
import { type Found, type Member, referenceOf, stackStates, stackTypes } from "./stacks.ts";

export const stackKind = "stack";

/** Portainer's own images: an update by Portainer would end it in the middle. */
const portainerImage = /(?:^|\/)portainer\/(?:portainer(?:-[a-z]+)?|agent)$/;

/** `configured`: what the stack's file says; null for a stack without a file that we can read. */
export function targetOf(found: Found, configured: Configured | null, self: RuntimeContext["self"]): Target {
  const { stack, members } = found;
  const inFile = new Map(configured?.services.map(({ service, image }) => [service, image]) ?? []);
  const running = new Set(members.map(({ service }) => service));
  // The stack does not update services that its file no longer names, though their containers remain.
  const names = configured === null ? [...running] : [...inFile.keys()];
  return {
    ref: { kind: stackKind, id: stack.Name },
    name: stack.Name,
    services: names.toSorted().map((name) => serviceOf(found, name, inFile.get(name) ?? null)),
    refusals: refusalsOf(found, configured, self),
    warnings: warningsOf(found, configured),
    labels: { "portainer/id": String(stack.Id) },
  };
}

function serviceOf({ members, images }: Found, name: string, configured: string | null): TargetService {
  const own = members.filter(({ service }) => service === name);
  const [first] = own;
  const reference = first === undefined ? (configured ?? "") : referenceOf(first);
  const id = first?.container.Image ?? "";
  const image = images.get(id);
  const pinned = /@(sha256:[0-9a-f]{64})$/.exec(reference)?.[1] ?? null;
  const artifact: ImageArtifact = {
    kind: "image",
    reference,
    image_id: id,
    digest: image === undefined ? pinned : digestFor(image.RepoDigests ?? [], splitReference(reference).repository),
    platform: image === undefined ? "" : platformOf(image),
  };
  return { name, containers: own.map(({ container }) => nameOf(container)), artifact, state: stateOf(own) };
}

/** The state of the worst container. */
function stateOf(members: readonly Member[]): TargetService["state"] {
  const states = members.map(({ container }) => stateOfContainer(container));
  const order = ["restarting", "unknown", "paused", "stopped", "running"] as const;
  return order.find((state) => states.includes(state)) ?? "stopped";
}

function stateOfContainer({ State: state }: ContainerInspect): TargetService["state"] {
  if (state.Paused === true) return "paused";
  if (state.Restarting === true) return "restarting";
  if (state.Running === true) return "running";
  return ["created", "exited", "dead"].includes(state.Status ?? "") ? "stopped" : "unknown";
}

/** The services that run; these have to run after an update, too. One that keeps crashing need not. */
export function runningServices(members: readonly Member[]): readonly string[] {
  const names = [...new Set(members.map(({ service }) => service))];
  return names.filter((name) => {
    return stateOf(members.filter(({ service }) => service === name)) === "running";
  });
}

function refusalsOf(found: Found, configured: Configured | null, self: RuntimeContext["self"]): readonly Refusal[] {
  const { stack, members } = found;
  if (stack.Type === stackTypes.swarm) return [{ code: "swarm", message: say("portainer.swarm") }];
  if (stack.Type === stackTypes.kubernetes) return [{ code: "kubernetes", message: say("portainer.kubernetes") }];
  if (stack.Type !== stackTypes.compose) {
    return [{ code: "unknown_type", message: say("portainer.unknown_type", { type: stack.Type }) }];
  }
  const refusals: Refusal[] = [];
  if (stack.GitConfig !== null) refusals.push({ code: "git", message: say("portainer.git") });
  const further = stack.AdditionalFiles ?? [];
  if (further.length > 0) {
    refusals.push({ code: "further_files", message: say("portainer.further_files", { files: further }) });
  }
  if (stack.Status === stackStates.stopped) refusals.push({ code: "stopped", message: say("portainer.stopped") });
  if (stack.Status === stackStates.deploying) {
    refusals.push({ code: "deploying", message: say("portainer.deploying") });
  }
  if (configured !== null && configured.refusal !== null) {
    refusals.push({ code: "file", message: say("portainer.file_refused", { cause: configured.refusal }) });
  }
  if (members.some(({ container }) => isOurselves(container, self))) {
    refusals.push({ code: "own_container", message: say("portainer.own_container") });
  }
  const isItself = members.some((each) => portainerImage.test(splitReference(referenceOf(each)).repository));
  if (isItself) refusals.push({ code: "portainer_itself", message: say("portainer.itself") });
  return refusals;
}

function warningsOf({ stack, members }: Found, configured: Configured | null): readonly Refusal[] {
  if (stack.Type !== stackTypes.compose || stack.Status === stackStates.stopped) return [];
  if (members.length === 0) return [{ code: "no_containers", message: say("portainer.no_containers") }];
  const names = configured?.services.map(({ service }) => service) ?? [];
  const left = [...new Set(members.map(({ service }) => service))].filter((name) => !names.includes(name));
  return configured === null || configured.refusal !== null || left.length === 0
    ? []
    : [{ code: "not_in_file", message: say("portainer.not_in_file", { services: left }) }];
}
