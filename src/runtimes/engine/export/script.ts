import { stringsAt } from "../raw.ts";
import { type Concealer, concealer } from "./conceal.ts";
import { type OwnSettings, ownSettings, type RestorableSnapshot, strangersOf } from "./member.ts";
import { connectOptions, isForCreate } from "./networks.ts";
import { neededNetworks, neededOptions, neededVolumes, unsayable } from "./notes.ts";
import { closing, opening } from "./script-frame.ts";
import { createOptions, isSayableLabel, seccompProfile } from "./script-options.ts";
import { heredoc, quoted } from "./shell.ts";

/** A POSIX shell script that makes the snapshot's containers with the `docker` or `podman` command alone. */
export function writeScript(snapshot: RestorableSnapshot, withSecrets: boolean): string {
  const all = ownSettings(snapshot);
  const conceal = concealer(all, withSecrets);
  // Written first, as it tells which variables the opening has to demand.
  const made = all.map((settings) => container(settings, conceal));
  const notes = [...all.flatMap((settings) => notesOf(settings, all, conceal))];
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

/** The lines that make one container; `number` is that of its image's variable. */
function container(settings: OwnSettings, conceal: Concealer): (number: number) => readonly string[] {
  const { name, further, host, is_running, files } = settings;
  const options = createOptions(settings, conceal);
  const entrypoint = conceal.words(settings, "entrypoint", (settings.entrypoint ?? []).slice(1));
  const command = [...entrypoint, ...conceal.words(settings, "command", settings.command ?? [])];
  const profile = seccompProfile(host);
  return (number) => {
    const arguments_ = [
      "--pull=never",
      `--name=${quoted([name])}`,
      ...(profile === null ? [] : ['--security-opt="seccomp=$tm_profile"']),
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
      `"$tm_cli" ${verb} \\`,
      ...arguments_.map((argument) => `  ${argument} \\`),
      "  >/dev/null",
      ...(profile === null ? [] : ['rm -f "$tm_profile"']),
      ...further
        .filter((each) => !isForCreate(each))
        .map((each) => {
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
 * `create` always closes the standard input after the first who attached to it; only a detached `run` leaves it open, and that
 * can be used where nothing has to be done between the two.
 */
function isKeptOpen({ config, is_running, further, files }: OwnSettings): boolean {
  const isOpen = config.OpenStdin === true && config.StdinOnce !== true;
  return isOpen && is_running && files === null && further.every(isForCreate);
}

function putFiles(name: string, files: string): readonly string[] {
  const lines = files.match(/.{1,76}/g) ?? [];
  return heredoc("tm_decode", lines.join("\n"), ` | "$tm_cli" cp - ${quoted([`${name}:/`])}`);
}

function notesOf(settings: OwnSettings, all: readonly OwnSettings[], conceal: Concealer): readonly string[] {
  const { name, entrypoint, healthcheck, config, files } = settings;
  const notes = [...unsayable(settings)];
  for (const stranger of strangersOf(settings, all)) {
    notes.push(`${name}: it shares something with the container ${stranger}, which the snapshot does not hold`);
  }
  for (const [key] of settings.labels.filter(([label]) => !isSayableLabel(label))) {
    notes.push(`${name}: the label ${JSON.stringify(key)} cannot be said`);
  }
  if ((entrypoint ?? []).length > 1) {
    notes.push(`${name}: an entrypoint of several words is given as the first one, the others before the command`);
  }
  if (stringsAt(healthcheck?.Test)[0] === "CMD") {
    notes.push(`${name}: its health check runs without a shell; here it is given to the shell, word by word`);
  }
  if (config.OpenStdin === true && config.StdinOnce !== true && !isKeptOpen(settings)) {
    notes.push(`${name}: its standard input closes after the first who was attached to it`);
  }
  if (files !== null && !conceal.with_secrets) {
    notes.push(`${name}: files were put into it (configs or secrets); they are only in an export with secrets`);
  }
  return notes;
}
