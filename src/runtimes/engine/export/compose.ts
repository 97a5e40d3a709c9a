import { isBlank, stringsAt } from "../raw.ts";
import { isLeftOut } from "./compose-networks.ts";
import { linksOf, type ServiceNames, serviceOf } from "./compose-service.ts";
import { composeText } from "./compose-text.ts";
import { type Concealer, concealer } from "./conceal.ts";
import { attachmentsOf, type OwnSettings, ownSettings, type RestorableSnapshot, strangersOf } from "./member.ts";
import {
  type NeededNetwork,
  type Note,
  neededNetworks,
  neededOptions,
  neededVolumes,
  sentence,
  unsayable,
} from "./notes.ts";
import { comment } from "./shell.ts";
import { yamlLines } from "./yaml.ts";

/** A Compose Specification file from which `docker compose` creates the snapshot's containers. */
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
  const notes = all.flatMap((settings) => composeNotes(settings, all)).map(sentence);
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
    ...(notes.length === 0 ? [] : ["", "Not restored as it was:", ...notes.map((note) => `  ${note}`)]),
  ].map(comment);
}

/** A service keeps the name from its own file; replicas get a number, and containers without a service use their name. */
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

/** The containers' project, so that its next `up` finds them. */
function projectName(snapshot: RestorableSnapshot, all: readonly OwnSettings[]): string {
  const label = all.flatMap(({ labels }) => labels).find(([key]) => key === "com.docker.compose.project")?.[1];
  const wanted = label ?? snapshot.name;
  const clean = wanted.toLowerCase().replace(/[^a-z0-9_-]/g, "-");
  return /^[a-z0-9]/.test(clean) ? clean : `restored${clean}`;
}

/** What a compose file does not restore. */
export function composeNotes(settings: OwnSettings, all: readonly OwnSettings[]): readonly Note[] {
  const { name, host, is_running, files, image, config } = settings;
  const notes: Note[] = [...unsayable(settings, "compose")];
  const say = (paths: readonly string[], text: string) => notes.push({ member: name, paths, text });
  for (const stranger of strangersOf(settings, all)) {
    say([], `it depends on the container ${stranger}, which is not in the snapshot`);
  }
  if (!is_running) say([], 'it was not running; use "create" in place of "up" for it');
  if (image.digest === null)
    say([], `its image ${image.reference} (${image.id}) was never pulled; it has to be on the engine`);
  if (files !== null) say([], "files were put into it (configs or secrets); the script with secrets has them");
  const isReadOnly = (each: string) => each.endsWith(":ro") && !all.some((other) => each === `${other.name}:ro`);
  if (stringsAt(host.VolumesFrom).some(isReadOnly)) {
    say(
      ["HostConfig.VolumesFrom"],
      "compose mounts the volumes of a container that is not in the file for writing too",
    );
  }
  if (settings.mac_address !== "" && !settings.has_network_mac) {
    say(["Config.MacAddress"], "compose 5 does not pass its MAC address to engines before API 1.44");
  }
  if (!isBlank(config.ConmonPidFile)) say(["Config.ConmonPidFile"], "only the script restores the PID file of conmon");
  if (config.OpenStdin === true && config.StdinOnce === true)
    say(["Config.StdinOnce"], "its standard input stays open after the first client");
  if (stringsAt(host.SecurityOpt).some((option) => /^seccomp[=:]\s*\{/.test(option))) {
    say(["HostConfig.SecurityOpt"], "its seccomp profile has to be written to a file and named under security_opt");
  }
  const links = linksOf(settings);
  for (const each of attachmentsOf(settings)) {
    const { network, endpoint } = each;
    if (isLeftOut(settings, each)) {
      say(["HostConfig.NetworkMode", `Networks.${network}`], `the network ${network} beside others is not restored`);
    }
    const own = stringsAt(endpoint.Links);
    if (links.some((link) => !own.includes(link)) && stringsAt(host.Links).length === 0) {
      say([`Networks.${network}`], `its links hold in every network, also in ${network}`);
    }
  }
  return notes;
}
