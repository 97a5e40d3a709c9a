import { isInPod } from "../carry.ts";
import { isBlank, stringAt, stringsAt } from "../raw.ts";
import { type Concealer, concealer } from "./conceal.ts";
import { type OwnSettings, ownSettings, type RestorableSnapshot, strangersOf } from "./member.ts";
import { connectOptions, isForCreate } from "./networks.ts";
import { type Note, neededNetworks, neededOptions, neededVolumes, sentence, unsayable } from "./notes.ts";
import { closing, opening } from "./script-frame.ts";
import { commandWords, createOptions, isSayableLabel, seccompProfile } from "./script-options.ts";
import { heredoc, quoted } from "./shell.ts";

/** A POSIX shell script that creates the snapshot's containers with only the `docker` or `podman` command. */
export function writeScript(snapshot: RestorableSnapshot, withSecrets: boolean): string {
  const all = ownSettings(snapshot);
  const conceal = concealer(all, withSecrets);
  // Made first, because it decides which variables the opening requires.
  const made = all.map((settings) => container(settings, conceal));
  const notes = all.flatMap((settings) => scriptNotes(settings, all, withSecrets)).map(sentence);
  return [
    ...opening({ name: snapshot.name, members: all, notes, variables: conceal.variables(), with_secrets: withSecrets }),
    ...all.map(({ name }) => `tm_refuse ${quoted([name])}`),
    "",
    "# Images, networks and volumes first: nothing is touched while one of them is missing.",
    ...all.map(({ image }, index) => {
      return `tm_fetch ${[image.id, image.reference, image.digest ?? ""].map((each) => quoted([each])).join(" ")}; tm_image_${index + 1}=$tm_image`;
    }),
    ...neededNetworks(all).map((network) => {
      const options = [
        ...neededOptions(network),
        ...Object.entries(network.labels).map(([key, value]) => `--label=${key}=${value}`),
      ];
      return `tm_network ${[network.name, ...options].map((each) => quoted([each])).join(" ")}`;
    }),
    ...[...neededVolumes(all)].map(([volume, driver]) => `tm_volume ${quoted([volume])} ${quoted([driver])}`),
    "",
    "# What stands in the way goes aside, the last in the order first.",
    ...all.toReversed().map(({ name }) => `tm_aside ${quoted([name])}`),
    "",
    ...made.flatMap((write, index) => [...write(index + 1), ""]),
    ...closing,
    "",
  ].join("\n");
}

/** The lines that create one container; `number` is that of its image's variable. */
function container(settings: OwnSettings, conceal: Concealer): (number: number) => readonly string[] {
  const { name, host, is_running, files } = settings;
  const options = createOptions(settings, conceal);
  const command = commandWords(settings, conceal);
  const runtime = stringAt(host.Runtime);
  const isPodman = settings.engine === "podman";
  const profile = seccompProfile(host);
  return (number) => {
    const arguments_ = [
      "--pull=never",
      `--name=${quoted([name])}`,
      ...(profile === null ? [] : ['--security-opt="seccomp=$tm_profile"']),
      ...(runtime === "" || isPodman ? [] : [quoted([`--runtime=${runtime}`])]),
      ...options.map(quoted),
      `"$tm_image_${number}"`,
      ...command.map(quoted),
    ];
    const verb = isKeptOpen(settings) ? "run --detach" : "create";
    const start = is_running && !isKeptOpen(settings) ? [`tm_start ${quoted([name])}`] : [];
    return [
      `tm_say ${quoted([`Making ${name}`])}`,
      `tm_current=${quoted([name])}`,
      ...(profile === null ? [] : ["tm_profile=$(mktemp)", ...heredoc('cat >"$tm_profile"', profile)]),
      `${isPodman ? `tm_create ${quoted([runtime])}` : '"$tm_cli"'} ${verb} \\`,
      ...arguments_.map((argument) => `  ${argument} \\`),
      "  >/dev/null",
      ...(profile === null ? [] : ['rm -f "$tm_profile"']),
      ...connectedLater(settings).map((each) => {
        const words = [...connectOptions(each), [each.network], [name]].map(quoted);
        return `"$tm_cli" network connect ${words.join(" ")}`;
      }),
      ...(files === null || !conceal.with_secrets ? [] : putFiles(name, files)),
      ...start,
      `tm_made ${quoted([name])} ${is_running ? "started" : quoted(["made, not started: it did not run"])}`,
    ];
  };
}

/**
 * `create` always closes the standard input after the first client that attached; only a detached `run` keeps it open, which works when
 * nothing happens between the two.
 */
function isKeptOpen(settings: OwnSettings): boolean {
  const { config, is_running, files } = settings;
  const isOpen = config.OpenStdin === true && config.StdinOnce !== true;
  return isOpen && is_running && files === null && connectedLater(settings).length === 0;
}

/** Podman takes every network at create. */
function connectedLater(settings: OwnSettings): OwnSettings["further"] {
  return settings.engine === "podman" ? [] : settings.further.filter((each) => !isForCreate(settings, each));
}

function putFiles(name: string, files: string): readonly string[] {
  const lines = files.match(/.{1,76}/g) ?? [];
  return heredoc("tm_decode", lines.join("\n"), ` | "$tm_cli" cp - ${quoted([`${name}:/`])}`);
}

/** What a script does not restore. */
export function scriptNotes(settings: OwnSettings, all: readonly OwnSettings[], withSecrets: boolean): readonly Note[] {
  const { name, engine, entrypoint, healthcheck, config, files, host } = settings;
  const notes: Note[] = [...unsayable(settings, "script")];
  const say = (paths: readonly string[], text: string) => notes.push({ member: name, paths, text });
  for (const stranger of strangersOf(settings, all)) {
    say([], `it depends on the container ${stranger}, which is not in the snapshot`);
  }
  for (const [key] of settings.labels.filter(([label]) => !isSayableLabel(label))) {
    say(["Config.Labels"], `the label ${JSON.stringify(key)} is not restored`);
  }
  const [check, ...words] = stringsAt(healthcheck?.Test);
  if (engine === "podman") {
    if (isInPod(host)) say([], `it is a member of the pod ${stringAt(host.Pod)}, which is not in the snapshot`);
    if (check === "CMD" && words.length === 1 && /\s/.test(words[0] ?? "")) {
      say(["Config.Healthcheck"], "its health check is one word with blanks in it, which becomes several");
    }
  } else {
    if ((entrypoint ?? []).length > 1) {
      const text = "its entrypoint has several words: the first is the entrypoint, the others come before the command";
      say(["Config.Entrypoint", "Config.Cmd"], text);
    }
    if (check === "CMD") {
      say(["Config.Healthcheck"], "its health check runs without a shell; the script runs the same words in the shell");
    }
  }
  for (const each of engine === "docker" ? settings.further : []) {
    const { network, endpoint } = each;
    const sayOfNetwork = (text: string) => say([`Networks.${network}`], text);
    if (!isForCreate(settings, each)) {
      if (stringAt(endpoint.MacAddress) !== "")
        sayOfNetwork(`its MAC address in the network ${network} is not restored`);
      continue;
    }
    if (!isBlank(endpoint.Links)) sayOfNetwork(`its links in the network ${network} are not restored`);
    if (stringsAt(endpoint.Aliases).some((alias) => alias !== alias.toLowerCase()))
      sayOfNetwork(`its aliases in the network ${network} are restored in lower case`);
  }
  if (config.OpenStdin === true && config.StdinOnce !== true && !isKeptOpen(settings)) {
    say(["Config.StdinOnce"], "its standard input closes after the first client that was attached to it");
  }
  if (files !== null && !withSecrets) {
    say([], "files were put into it (configs or secrets); only an export with secrets has them");
  }
  return notes;
}
