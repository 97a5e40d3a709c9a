import { say } from "../../messages/message.ts";
import type { RuntimeContext } from "../runtime.ts";
import type { Refusal } from "../target.ts";
import type { EngineAddress } from "./address.ts";
import { isLoopback } from "./address.ts";
import { attachments, mainAttachment, volumeName } from "./carry.ts";
import { hasFailedAtNetwork, lostNetwork } from "./lost-networks.ts";
import { leftoverOf } from "./names.ts";
import { type ContainerInspect, type ImageInspect, isRunning, nameOf } from "./objects.ts";
import { isObject, listAt, objectAt, stringAt, stringMapAt, stringsAt } from "./raw.ts";
import { requirementRefusals, requirementWarnings } from "./requirements.ts";

export interface Surroundings {
  all: readonly ContainerInspect[];
  self: RuntimeContext["self"];
  address: EngineAddress;
}

/** Why a container must not be updated. The codes are a closed list; the sentences name what was found. */
export function refusalsOf(container: ContainerInspect, around: Surroundings): readonly Refusal[] {
  return [
    ...moveRefusals(container, around),
    ...makeRefusals(container),
    ...requirementRefusals(container, around.all),
  ];
}

/** Why a container must not be replaced, whatever the replacement. */
export function moveRefusals(container: ContainerInspect, around: Surroundings): readonly Refusal[] {
  return [...ownerRefusals(container), ...stateRefusals(container), ...selfRefusals(container, around)];
}

/** Why no container with the same settings can be created from what the engine reported. */
export function makeRefusals(container: ContainerInspect): readonly Refusal[] {
  return [
    ...(container.Refusals ?? []),
    ...unnamedRefusals(container),
    ...networkRefusals(container),
    ...(composeProject(container) === undefined ? macNotices(container) : []),
  ];
}

/** Volumes that no other container can mount because they have no name. */
function unnamedRefusals(container: ContainerInspect): readonly Refusal[] {
  const unnamed = (container.Mounts ?? []).filter((mount) => mount.Type === "volume" && volumeName(mount) === "");
  return unnamed.map((mount) => ({
    code: "volume_unnamed",
    message: say("refusals.volume_unnamed", { path: stringAt(mount.Destination) }),
  }));
}

/** Networks that a new container would not be connected to. */
function networkRefusals(container: ContainerInspect): readonly Refusal[] {
  const lost = lostNetwork(container);
  if (lost !== null) return [{ code: "network_lost", message: say("refusals.network_lost", { network: lost }) }];
  if (!hasFailedAtNetwork(container)) return [];
  return [{ code: "network_lost", message: say("refusals.network_suspect") }];
}

/**
 * Newer engines no longer report the MAC address chosen for an additional network once the container has stopped, even if its start
 * failed. Perhaps none was chosen. For a compose service the compose file has the address, so this is only a warning.
 */
function macNotices(container: ContainerInspect): readonly Refusal[] {
  const { Status: status, ExitCode: exitCode, Error: error } = container.State;
  const wasNeverTried = status === "created" && (exitCode ?? 0) === 0 && (error ?? "") === "";
  if (wasNeverTried || isRunning(container)) return [];
  const silent = attachments(container, "1.56").filter(({ network }) => {
    const endpoint = objectAt(container.NetworkSettings?.Networks?.[network]);
    const takesMac = "DNSNames" in endpoint;
    return takesMac && stringAt(endpoint.MacAddress) === "";
  });
  const main = mainAttachment({ attachments: silent, host_config: container.HostConfig });
  const networks = silent.filter((each) => each !== main).map(({ network }) => network);
  return networks.length === 0 ? [] : [{ code: "mac_unknown", message: say("refusals.mac_unknown", { networks }) }];
}

function composeProject(container: ContainerInspect): string | undefined {
  return stringMapAt(container.Config.Labels)["com.docker.compose.project"];
}

/** Without the image that a container was created from, its own settings cannot be distinguished from the image's defaults. */
export function imageRefusals(container: ContainerInspect, image: ImageInspect | null): readonly Refusal[] {
  if (image !== null) return [];
  const id = container.Image.slice(0, "sha256:".length + 12);
  return [{ code: "image_missing", message: say("refusals.image_missing", { id }) }];
}

/** Another tool creates and removes these; a replacement of ours would be undone or duplicated. */
function ownerRefusals(container: ContainerInspect): readonly Refusal[] {
  const labels = stringMapAt(container.Config.Labels);
  const refusals: Refusal[] = [];
  const leftover = leftoverOf(nameOf(container));
  if (leftover !== null) {
    refusals.push({
      code: "leftover",
      message: say("refusals.leftover", { name: leftover.name }),
    });
  }
  if (container.HostConfig.AutoRemove === true) {
    refusals.push({
      code: "auto_remove",
      message: say("refusals.auto_remove"),
    });
  }
  const unit = labels.PODMAN_SYSTEMD_UNIT;
  if (unit !== undefined && unit !== podmanComposeUnit(labels)) {
    refusals.push({
      code: "systemd_owned",
      message: say("refusals.systemd_owned", { unit }),
    });
  }
  if (isPodInfra(container, labels)) {
    refusals.push({
      code: "pod_infra",
      message: say("refusals.pod_infra"),
    });
  }
  if (labels["com.docker.swarm.task.id"] !== undefined) {
    refusals.push({
      code: "swarm_task",
      message: say("refusals.swarm_task"),
    });
  }
  return refusals;
}

/**
 * `podman-compose` labels all its containers with this unit, whether or not it is installed. The unit only starts and stops the
 * project; containers are created from the compose file.
 */
function podmanComposeUnit(labels: Readonly<Record<string, string>>): string | null {
  const project = labels["io.podman.compose.project"] ?? "";
  return project === "" ? null : `podman-compose@${project}.service`;
}

/** The unit waits until every container that it found has ended, including those that an update stops, and then stops the pod. */
function unitWarnings(container: ContainerInspect): readonly Refusal[] {
  const labels = stringMapAt(container.Config.Labels);
  const unit = podmanComposeUnit(labels);
  if (unit === null || labels.PODMAN_SYSTEMD_UNIT !== unit || !isRunning(container)) return [];
  return [{ code: "podman_compose_unit", message: say("podman.compose_unit", { unit }) }];
}

function isPodInfra(container: ContainerInspect, labels: Readonly<Record<string, string>>): boolean {
  return (
    container.IsInfra === true ||
    labels["io.kubernetes.container.name"] === "POD" ||
    labels["io.kubernetes.docker.type"] === "podsandbox"
  );
}

function stateRefusals(container: ContainerInspect): readonly Refusal[] {
  if (container.State.Paused === true) {
    return [
      {
        code: "paused",
        message: say("refusals.paused"),
      },
    ];
  }
  const status = container.State.Status ?? "";
  if (container.State.Dead === true || status === "dead" || status === "removing") {
    return [{ code: "being_removed", message: say("refusals.being_removed", { state: status }) }];
  }
  return [];
}

function selfRefusals(container: ContainerInspect, around: Surroundings): readonly Refusal[] {
  if (isOurselves(container, around.self)) {
    return [{ code: "own_container", message: say("refusals.own_container") }];
  }
  const refusals: Refusal[] = [];
  if (carriesConnection(container, around.address)) {
    refusals.push({
      code: "own_connection",
      message: say("refusals.own_connection"),
    });
  }
  if (sharesOurData(container, around)) {
    refusals.push({ code: "own_data", message: say("refusals.own_data") });
  }
  return refusals;
}

/**
 * A container's hostname is a prefix of its ID unless somebody chose one. A chosen one counts as ours only together
 * with a mount of our data directory, because containers on the host's network have the host's name.
 */
export function isOurselves(container: ContainerInspect, self: RuntimeContext["self"]): boolean {
  if (/^[0-9a-f]{12,64}$/.test(self.hostname) && container.Id.startsWith(self.hostname)) return true;
  if (stringAt(container.Config.Hostname) !== self.hostname || self.hostname === "") return false;
  return mountsOf(container).some((mount) => isWithin(self.data_dir, mount.destination));
}

function sharesOurData(container: ContainerInspect, around: Surroundings): boolean {
  const ours = around.all.find((each) => isOurselves(each, around.self));
  if (ours !== undefined) {
    const sources = mountsOf(ours)
      .filter((mount) => isWithin(around.self.data_dir, mount.destination))
      .map((mount) => mount.source);
    return mountsOf(container).some((mount) => sources.includes(mount.source));
  }
  // We run on the host itself: its paths are ours. A container that mounts a whole disk (backup, monitoring) is not ours.
  return mountsOf(container).some((mount) => isWithin(mount.source, around.self.data_dir));
}

interface MountPath {
  source: string;
  destination: string;
}

function mountsOf(container: ContainerInspect): readonly MountPath[] {
  return (container.Mounts ?? [])
    .map((mount) => ({ source: stringAt(mount.Source), destination: stringAt(mount.Destination) }))
    .filter((mount) => mount.source !== "");
}

function isWithin(path: string, folder: string): boolean {
  if (path === "" || folder === "" || folder === "/") return false;
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Whether it is a socket proxy: it publishes the port that we connect to, or has the address's name. */
function carriesConnection(container: ContainerInspect, address: EngineAddress): boolean {
  if (address.kind === "unix") return false;
  const published = Object.values(objectAt(container.HostConfig.PortBindings))
    .flatMap(listAt)
    .filter(isObject)
    .some((binding) => stringAt(binding.HostPort) === String(address.port));
  if (published) return true;
  if (isLoopback(address.host)) return false;
  const networks = Object.values(container.NetworkSettings?.Networks ?? {}).map(objectAt);
  const names = [
    nameOf(container),
    stringAt(container.Config.Hostname),
    stringMapAt(container.Config.Labels)["com.docker.compose.service"] ?? "",
    ...networks.flatMap((network) => [...stringsAt(network.Aliases), stringAt(network.IPAddress)]),
  ];
  return names.some((name) => name !== "" && name.toLowerCase() === address.host.toLowerCase());
}

/** Warnings do not prevent an update, but should be known beforehand. */
export function warningsOf(container: ContainerInspect, around: Pick<Surroundings, "all">): readonly Refusal[] {
  const composeFile = {
    code: "compose_file",
    message: say("refusals.compose_file"),
  };
  return [
    ...makeWarnings(container),
    ...requirementWarnings(container, around.all),
    ...moveWarnings(container, around),
    ...(composeProject(container) === undefined ? [] : [composeFile]),
  ];
}

/** Warnings about replacing a container, whatever the replacement. */
export function moveWarnings(container: ContainerInspect, around: Pick<Surroundings, "all">): readonly Refusal[] {
  const name = nameOf(container);
  const leftovers = around.all.map(nameOf).filter((each) => leftoverOf(each)?.name === name);
  if (leftovers.length === 0) return unitWarnings(container);
  const message = say("refusals.leftovers", { name, names: leftovers });
  return [...unitWarnings(container), { code: "leftovers", message }];
}

/** Warnings about creating a container with the same settings from what the engine reported. */
export function makeWarnings(container: ContainerInspect): readonly Refusal[] {
  const isMadeFromId = /^sha256:[0-9a-f]{64}$/.test(stringAt(container.Config.Image));
  return [
    ...(container.Warnings ?? []),
    ...(composeProject(container) === undefined ? [] : macNotices(container)),
    ...(isMadeFromId ? [{ code: "image_by_id", message: say("refusals.image_by_id") }] : []),
  ];
}
