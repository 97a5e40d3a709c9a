import { type Message, say } from "../../messages/message.ts";
import { stringsAt } from "../engine/raw.ts";

/** Stands for the image in a recorded command line: the only word that an update changes. */
export const imagePlaceholder = "{image}";

/** The command line that created a container. Podman keeps it, and it has what inspect leaves out. */
export interface CommandLine {
  /** Every word, with the placeholder for the image. */
  words: readonly string[];
  /** Long names, with the value as text; a switch has `true` or its explicit value. In the order written, repeats kept. */
  options: readonly { name: string; value: string }[];
}

const shortNames: Readonly<Record<string, string>> = {
  a: "attach",
  c: "cpu-shares",
  d: "detach",
  e: "env",
  h: "hostname",
  i: "interactive",
  l: "label",
  m: "memory",
  p: "publish",
  P: "publish-all",
  q: "quiet",
  t: "tty",
  u: "user",
  v: "volume",
  w: "workdir",
};

const switches = new Set([
  ...["detach", "disable-content-trust", "env-host", "help", "http-proxy", "init", "interactive", "no-healthcheck"],
  ...["no-hosts", "no-hostname", "oom-kill-disable", "passwd", "privileged", "publish-all", "quiet", "read-only"],
  ...["read-only-tmpfs", "replace", "rm", "rmi", "rootfs", "sig-proxy", "tls-verify", "tty", "unsetenv-all"],
]);

/**
 * Parses `podman run …` and `podman create …`, and our own records in the same form. Null for everything else: containers created through
 * the API carry the service's command line, which says nothing about them.
 */
export function readCommandLine(recorded: unknown): CommandLine | null {
  const words = stringsAt(recorded);
  const verb = words.findIndex((word, index) => index > 0 && (word === "run" || word === "create"));
  if (verb < 0) return null;
  const options: { name: string; value: string }[] = [];
  let index = verb + 1;
  while (index < words.length) {
    const word = words[index] ?? "";
    if (!word.startsWith("-") || word === "-") break;
    if (word === "--") {
      index += 1;
      break;
    }
    index += word.startsWith("--") ? readLong(words, index, options) : readShort(words, index, options);
  }
  if (index >= words.length) return null;
  return { words: words.map((word, at) => (at === index ? imagePlaceholder : word)), options };
}

type Options = { name: string; value: string }[];

/** Returns how many words the option took. */
function readLong(words: readonly string[], index: number, options: Options): number {
  const word = (words[index] ?? "").slice(2);
  const equals = word.indexOf("=");
  if (equals >= 0) {
    options.push({ name: word.slice(0, equals), value: word.slice(equals + 1) });
    return 1;
  }
  if (switches.has(word)) {
    options.push({ name: word, value: "true" });
    return 1;
  }
  options.push({ name: word, value: words[index + 1] ?? "" });
  return 2;
}

/** `-it`, `-p80:80`, `-p 80:80`. */
function readShort(words: readonly string[], index: number, options: Options): number {
  const letters = (words[index] ?? "").slice(1);
  for (let at = 0; at < letters.length; at += 1) {
    const name = shortNames[letters[at] ?? ""] ?? letters[at] ?? "";
    if (switches.has(name)) {
      options.push({ name, value: "true" });
      continue;
    }
    const rest = letters.slice(at + 1).replace(/^=/, "");
    options.push({ name, value: rest === "" ? (words[index + 1] ?? "") : rest });
    return rest === "" ? 2 : 1;
  }
  return 1;
}

export function valuesOf(line: CommandLine, ...names: readonly string[]): readonly string[] {
  return line.options.filter((option) => names.includes(option.name)).map((option) => option.value);
}

/** Choices of a command line for one network; inspect shows none of them. */
export interface ChosenAddress {
  ipv4: string;
  ipv6: string;
  mac: string;
  interface_name: string;
}

const noAddress: ChosenAddress = { ipv4: "", ipv6: "", mac: "", interface_name: "" };

/** By network name; the blank name is for the only network of a container that names none. */
export function chosenAddresses(line: CommandLine): ReadonlyMap<string, ChosenAddress> {
  const chosen = new Map<string, ChosenAddress>();
  const networks = valuesOf(line, "network", "net");
  for (const text of networks) {
    const [name = "", options = ""] = splitOnce(text, ":");
    const address = { ...noAddress };
    for (const option of options.split(",")) {
      const [key, value] = splitOnce(option, "=");
      if (key === "ip" || key === "ip6") note(address, value);
      if (key === "mac") address.mac = value;
      if (key === "interface_name") address.interface_name = value;
    }
    if (Object.values(address).some((value) => value !== "")) chosen.set(name, address);
  }
  const whole = { ...noAddress, mac: valuesOf(line, "mac-address").at(-1) ?? "" };
  for (const value of valuesOf(line, "ip", "ip6")) note(whole, value);
  if (whole.ipv4 !== "" || whole.ipv6 !== "" || whole.mac !== "") {
    const [first] = splitOnce(networks[0] ?? "", ":");
    chosen.set(first, { ...whole, interface_name: chosen.get(first)?.interface_name ?? "" });
  }
  return chosen;
}

/** In the order written: the named networks, or a mode. */
export function writtenNetworks(line: CommandLine): readonly string[] {
  return valuesOf(line, "network", "net").flatMap((text) => splitOnce(text, ":")[0].split(","));
}

const ownModes = /^(container|host|none|ns|pasta|private|slirp4netns)$/;
const knownNetworkOptions = new Set(["alias", "ip", "ip6", "mac", "interface_name"]);

/** Network options of newer versions that are not known here. */
function unknownNetworkOptions(line: CommandLine): readonly string[] {
  const named = valuesOf(line, "network", "net").flatMap((text) => {
    const [name, options] = splitOnce(text, ":");
    return ownModes.test(name) || options === "" ? [] : options.split(",").map((option) => splitOnce(option, "=")[0]);
  });
  return [...new Set(named)].filter((key) => !knownNetworkOptions.has(key));
}

function note(address: ChosenAddress, value: string): void {
  if (value.includes(":")) address.ipv6 = value;
  else address.ipv4 = value;
}

export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Inspect does not report these, or not enough to restore them; `what` describes each. Secrets have their own refusal. */
const untellable: readonly { names: readonly string[]; matches?: RegExp; what: Message }[] = [
  { names: ["device-cgroup-rule"], what: say("podman.device_rules") },
  { names: ["device"], matches: /:[rwm]{1,3}$/, what: say("podman.device_rights") },
  { names: ["gpus"], what: say("podman.gpus") },
  { names: ["security-opt"], matches: /^(mask|unmask|proc-opts|systempaths)/, what: say("podman.masked_paths") },
  { names: ["storage-opt"], what: say("podman.storage_options") },
  { names: ["personality"], what: say("podman.personality") },
  { names: ["passwd-entry", "group-entry"], what: say("podman.passwd_entry") },
  { names: ["hostuser"], what: say("podman.host_users") },
  { names: ["rootfs"], what: say("podman.root_folder") },
  { names: ["init-path"], what: say("podman.init_program") },
  { names: ["init-ctr"], what: say("podman.init_container") },
  { names: ["preserve-fds"], what: say("podman.open_files") },
  { names: ["unsetenv", "unsetenv-all"], what: say("podman.unset_variables") },
  { names: ["image-volume"], matches: /^(?!(anonymous|bind)$)/, what: say("podman.image_volumes") },
  { names: ["volume"], matches: /:([^:]*,)?O(,|$)/, what: say("podman.overlay") },
  { names: ["no-hosts"], matches: /^true$/, what: say("podman.own_hosts") },
  { names: ["dns"], matches: /^none$/, what: say("podman.own_resolv_conf") },
  { names: ["seccomp-policy"], what: say("podman.seccomp_policy") },
];

/** Requests of a command line that cannot be restored. */
export function untellableOptions(line: CommandLine): readonly Message[] {
  const told = untellable
    .filter(({ names, matches }) =>
      valuesOf(line, ...names).some((value) => matches === undefined || matches.test(value)),
    )
    .map(({ names: [option = ""], what }) => say("podman.option", { what, option }));
  const what = say("podman.network_option");
  const others = unknownNetworkOptions(line).map((key) => say("podman.option", { what, option: `network …:${key}` }));
  return [...told, ...others];
}
