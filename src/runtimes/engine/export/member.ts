import { type Attachment, attachments, blueprint, mainAttachment } from "../carry.ts";
import { variableName } from "../merge.ts";
import { isOwnLabel } from "../names.ts";
import { type ContainerInspect, type ImageInspect, isIdPrefix, isRunning } from "../objects.ts";
import { isBlank, isSame, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import { digestFor, splitReference } from "../reference.ts";

/** One container of a snapshot, with its image. */
export interface SnapshotMember {
  name: string;
  /** The target's service; a single container has one, called `main`. */
  service: string;
  container: ContainerInspect;
  image: ImageInspect;
  /** Mount destinations inherited from the containers in `VolumesFrom`. */
  inherited: readonly string[];
  /** A tar in base64 with paths from the root: the files put into the container; null when there are none. */
  files: string | null;
}

/** A snapshot for the exports: members in start order. */
export interface RestorableSnapshot {
  kind: "container" | "compose";
  name: string;
  api_version: string;
  members: readonly SnapshotMember[];
}

export interface SnapshotImage {
  id: string;
  /** As the container was configured. */
  reference: string;
  /** Pulls exactly this image again, `repository@sha256:…`; null for one that was never pulled. */
  digest: string | null;
}

/** A person's settings: everything in a container that does not come from its image. */
export interface OwnSettings {
  /** The snapshot's format: only Podman's own inspect names the runtime. */
  engine: "docker" | "podman";
  name: string;
  service: string;
  image: SnapshotImage;
  is_running: boolean;
  /** Null: the image's. Empty: none at all. */
  entrypoint: readonly string[] | null;
  command: readonly string[] | null;
  /** Name and value. */
  env: readonly (readonly [string, string])[];
  labels: readonly (readonly [string, string])[];
  /** The members that differ from the image's health check; null without one of its own. */
  healthcheck: RawObject | null;
  hostname: string;
  domainname: string;
  user: string;
  working_dir: string;
  stop_signal: string;
  exposed: readonly string[];
  /** Destinations of `Config.Volumes`; the volumes there are in the mounts by name. */
  volumes: readonly string[];
  /** The engine's own form, for what needs no comparison with the image. */
  config: RawObject;
  /** The image's `Config`. */
  defaults: RawObject;
  /** As found, by network. */
  endpoints: Readonly<Record<string, RawObject>>;
  /** With anonymous volumes by name, and other members of the snapshot by theirs. */
  host: RawObject;
  main: Attachment | null;
  /** The networks besides the main one. */
  further: readonly Attachment[];
  /** Chosen by a person, or blank. */
  mac_address: string;
  /** Whether the engine takes it with the network, and not with the container (API 1.44 and later). */
  has_network_mac: boolean;
  files: string | null;
  mounts: readonly RawObject[];
}

/** The settings of every member, in the snapshot's order. */
export function ownSettings(snapshot: RestorableSnapshot): readonly OwnSettings[] {
  return snapshot.members.map((member) => settingsOf(member, snapshot));
}

function settingsOf(member: SnapshotMember, snapshot: RestorableSnapshot): OwnSettings {
  const { container, image } = member;
  const { Config: config } = container;
  const defaults = objectAt(image.Config);
  const shape = blueprint({
    container,
    oldImage: image,
    newImage: image,
    reference: stringAt(config.Image),
    inherited: new Set(member.inherited),
    apiVersion: snapshot.api_version,
  });
  const attached = attachments(container, snapshot.api_version);
  const named = mainAttachment({ attachments: attached, host_config: container.HostConfig });
  // It was removed from its mode's network, or the mode is an id that only a running container shows with its networks.
  const main = named ?? attached[0] ?? null;
  const host = byMemberNames(shape.host_config, snapshot.members);
  const own = (key: string) => (isSame(config[key], defaults[key]) ? "" : stringAt(config[key]));
  return {
    engine: "OCIRuntime" in container ? "podman" : "docker",
    name: member.name,
    service: member.service,
    image: imageOf(member),
    is_running: isRunning(container),
    ...commandOf(config, defaults),
    env: envOf(config, defaults),
    labels: Object.entries(stringMapAt(config.Labels)).filter(
      ([key, value]) => !isOwnLabel(key) && stringMapAt(defaults.Labels)[key] !== value,
    ),
    healthcheck: healthcheckOf(objectAt(config.Healthcheck), objectAt(defaults.Healthcheck)),
    hostname: stringAt(shape.config.Hostname),
    domainname: stringAt(shape.config.Domainname),
    user: own("User"),
    working_dir: own("WorkingDir"),
    stop_signal: own("StopSignal"),
    exposed: keysBeyond(config.ExposedPorts, defaults.ExposedPorts),
    volumes: keysBeyond(config.Volumes, defaults.Volumes),
    config,
    defaults,
    endpoints: Object.fromEntries(
      Object.entries(container.NetworkSettings?.Networks ?? {}).map(([key, value]) => [key, objectAt(value)]),
    ),
    host: named === null && main !== null ? { ...host, NetworkMode: main.network } : host,
    main,
    further: attached.filter((each) => each !== main),
    mac_address: stringAt(main?.endpoint.MacAddress) || stringAt(config.MacAddress),
    has_network_mac: stringAt(main?.endpoint.MacAddress) !== "",
    files: member.files,
    mounts: shape.mounts,
  };
}

/** The main network first. */
export function attachmentsOf({ main, further }: OwnSettings): readonly Attachment[] {
  return main === null ? further : [main, ...further];
}

/** With an explicit entrypoint the engine uses no command of the image, so both are taken or neither. */
function commandOf(config: RawObject, defaults: RawObject): Pick<OwnSettings, "entrypoint" | "command"> {
  const isDropped = isBlank(config.Cmd) && !isBlank(defaults.Cmd);
  if (isDropped || !isSame(config.Entrypoint, defaults.Entrypoint)) {
    return { entrypoint: stringsAt(config.Entrypoint), command: stringsAt(config.Cmd) };
  }
  return { entrypoint: null, command: isSame(config.Cmd, defaults.Cmd) ? null : stringsAt(config.Cmd) };
}

/** The last of several values for one name wins, including the image's. */
function envOf(config: RawObject, defaults: RawObject): OwnSettings["env"] {
  const effective = (env: unknown) => new Map(stringsAt(env).map((line) => [variableName(line), line]));
  const given = effective(defaults.Env);
  return [...effective(config.Env)]
    .filter(([name, line]) => line !== given.get(name) && line.includes("="))
    .map(([name, line]) => [name, line.slice(name.length + 1)] as const);
}

function healthcheckOf(own: RawObject, defaults: RawObject): RawObject | null {
  const kept = Object.entries(own).filter(([key, value]) => {
    return !isBlank(value) && value !== 0 && !isSame(value, defaults[key]);
  });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

function keysBeyond(map: unknown, defaults: unknown): readonly string[] {
  const known = objectAt(defaults);
  return Object.keys(objectAt(map)).filter((key) => !(key in known));
}

function imageOf({ container, image }: SnapshotMember): SnapshotImage {
  const reference = stringAt(container.Config.Image);
  const { repository } = splitReference(reference);
  const digests = image.RepoDigests ?? [];
  const digest = digestFor(digests, repository);
  return { id: image.Id, reference, digest: digest === null ? (digests[0] ?? null) : `${repository}@${digest}` };
}

/** Members whose value can name another container. */
export const sharing = ["NetworkMode", "PidMode", "IpcMode", "UTSMode", "UsernsMode", "CgroupnsMode"];

/** Ids change with every restore, names do not: other members of the snapshot are referenced by name. */
function byMemberNames(host: RawObject, members: readonly SnapshotMember[]): RawObject {
  const nameFor = (container: string): string => {
    const found = members.find(({ name, container: { Id } }) => name === container || isIdPrefix(container, Id));
    return found?.name ?? container;
  };
  const named: Record<string, unknown> = { ...host };
  for (const key of sharing) {
    const mode = stringAt(host[key]);
    if (mode.startsWith("container:")) named[key] = `container:${nameFor(mode.slice("container:".length))}`;
  }
  const volumesFrom = stringsAt(host.VolumesFrom);
  if (volumesFrom.length > 0) {
    named.VolumesFrom = volumesFrom.map((each) => {
      const [from = "", ...mode] = each.split(":");
      return [nameFor(from), ...mode].join(":");
    });
  }
  const required = stringsAt(host.Dependencies);
  if (required.length > 0) named.Dependencies = required.map(nameFor);
  return named;
}

/** Containers that it shares something with or requires, and that are not in the snapshot. */
export function strangersOf(settings: OwnSettings, all: readonly OwnSettings[]): readonly string[] {
  const shared = sharing
    .map((key) => stringAt(settings.host[key]))
    .filter((mode) => mode.startsWith("container:"))
    .map((mode) => mode.slice("container:".length));
  const from = stringsAt(settings.host.VolumesFrom).map((each) => each.split(":")[0] ?? "");
  const required = stringsAt(settings.host.Dependencies);
  return [...new Set([...shared, ...from, ...required])].filter((each) => !all.some((member) => member.name === each));
}
