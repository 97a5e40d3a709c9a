import { stringAt, stringsAt } from "../raw.ts";
import { type ServiceNames, serviceOf } from "./compose-service.ts";
import { composeText } from "./compose-text.ts";
import { type Concealer, concealer } from "./conceal.ts";
import { type OwnSettings, ownSettings, type RestorableSnapshot, strangersOf } from "./member.ts";
import { type NeededNetwork, neededNetworks, neededOptions, neededVolumes, unsayable } from "./notes.ts";
import { comment } from "./shell.ts";
import { yamlLines } from "./yaml.ts";

/** A file of the Compose Specification from which `docker compose` makes the snapshot's containers. */
export function writeCompose(snapshot: RestorableSnapshot, withSecrets: boolean): string {
  const all = ownSettings(snapshot);
  const conceal = concealer(all, withSecrets);
  const names = serviceNames(all);
  const services = all.map((settings) => [
    names.get(settings.name) ?? settings.name,
    serviceOf(settings, names, conceal),
  ]);
  const external = (found: Iterable<string>) => {
    const entries = [...found].map((name) => [name, { name: composeText([name]), external: true }]);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  const networks = neededNetworks(all);
  const volumes = [...neededVolumes(all).keys()];
  return [
    ...head(snapshot, all, conceal, { networks, volumes }),
    ...yamlLines({
      name: projectName(snapshot, all),
      services: Object.fromEntries(services),
      networks: external(networks.map(({ name }) => name)),
      volumes: external(volumes),
    }),
    "",
  ].join("\n");
}

function head(
  snapshot: RestorableSnapshot,
  all: readonly OwnSettings[],
  conceal: Concealer,
  needed: { networks: readonly NeededNetwork[]; volumes: readonly string[] },
): readonly string[] {
  const notes = all.flatMap((settings) => notesOf(settings, all));
  const needs = [
    ...needed.networks.map(({ name, ...network }) => {
      // Without the subnet the engine refuses a fixed address.
      return `docker network create ${[...neededOptions(network), name].join(" ")}`;
    }),
    ...needed.volumes.map((name) => `docker volume create ${name}     (an empty one: data is not part of a snapshot)`),
  ];
  return [
    `Makes ${all.length === 1 ? "the container" : "the containers of"} ${snapshot.name} as a snapshot of Tidemark holds it, without Tidemark.`,
    "Usage: remove or rename the containers of these names, then: docker compose -f THIS_FILE up --detach",
    ...(conceal.with_secrets
      ? ["", "!! THIS FILE HOLDS SECRETS IN CLEAR TEXT. Keep it as you keep passwords, and delete it after use. !!"]
      : [
          "",
          "Without secrets: values that look like one are taken from the environment. They are recognised by their names",
          "and forms, so look through the file before you give it to somebody.",
          ...conceal.variables().map(({ variable, meaning }) => `  ${variable}: ${meaning}`),
        ]),
    ...(needs.length === 0
      ? []
      : ["", "Networks and volumes have to be there; where one is missing:", ...needs.map((need) => `  ${need}`)]),
    ...(notes.length === 0 ? [] : ["", "What a compose file has no words for:", ...notes.map((note) => `  ${note}`)]),
  ].map(comment);
}

/** A service is called as it was in its own file; replicas get a number, and what has no service its name. */
function serviceNames(all: readonly OwnSettings[]): ServiceNames {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { name, service } of all) {
    const wanted = service === "main" ? name : service;
    let free = wanted;
    for (let number = 2; taken.has(free); number += 1) free = `${wanted}-${number}`;
    taken.add(free);
    names.set(name, free);
  }
  return names;
}

/** The project that the containers were of, so that its next `up` finds them. */
function projectName(snapshot: RestorableSnapshot, all: readonly OwnSettings[]): string {
  const label = all.flatMap(({ labels }) => labels).find(([key]) => key === "com.docker.compose.project")?.[1];
  const wanted = label ?? snapshot.name;
  const clean = wanted.toLowerCase().replace(/[^a-z0-9_-]/g, "-");
  return /^[a-z0-9]/.test(clean) ? clean : `restored${clean}`;
}

function notesOf(settings: OwnSettings, all: readonly OwnSettings[]): readonly string[] {
  const { name, host, is_running, files, image, config } = settings;
  const notes = [...unsayable(settings)];
  for (const stranger of strangersOf(settings, all)) {
    notes.push(`${name}: it shares something with the container ${stranger}, which the snapshot does not hold`);
  }
  if (!is_running) notes.push(`${name}: it did not run; use "create" in place of "up" for it`);
  if (image.digest === null)
    notes.push(`${name}: its image ${image.reference} (${image.id}) was never pulled; it has to be here`);
  if (files !== null)
    notes.push(`${name}: files were put into it (configs or secrets); the script with secrets brings them`);
  if (stringAt(host.CpusetMems) !== "") notes.push(`${name}: HostConfig.CpusetMems cannot be said`);
  if (
    stringsAt(host.VolumesFrom).some(
      (each) => each.endsWith(":ro") && !all.some((other) => each === `${other.name}:ro`),
    )
  ) {
    notes.push(`${name}: compose mounts the volumes of a container that is not in the file for writing too`);
  }
  if (settings.mac_address !== "" && !settings.has_network_mac) {
    notes.push(`${name}: compose 5 does not give its MAC address to an engine before API 1.44`);
  }
  if (host.PublishAllPorts === true) notes.push(`${name}: publishing all ports cannot be said`);
  if (stringAt(host.VolumeDriver) !== "") notes.push(`${name}: HostConfig.VolumeDriver cannot be said`);
  if (typeof host.KernelMemory === "number" && host.KernelMemory > 0)
    notes.push(`${name}: HostConfig.KernelMemory cannot be said`);
  if (config.OpenStdin === true && config.StdinOnce === true)
    notes.push(`${name}: that its standard input closes after the first cannot be said`);
  if (stringsAt(host.SecurityOpt).some((option) => /^seccomp[=:]\s*\{/.test(option))) {
    notes.push(`${name}: its seccomp profile has to be written to a file and named under security_opt`);
  }
  return notes;
}
