import { objectAt, type RawObject, stringAt, stringsAt } from "../engine/raw.ts";
import { type ChosenAddress, type CommandLine, chosenAddresses, writtenNetworks } from "./command-line.ts";

/** Podman's networks have no ids here: the name connects. Chosen addresses come only from the command line. */
export function readNetworks(raw: RawObject, line: CommandLine | null): RawObject {
  const settings = objectAt(raw.NetworkSettings);
  const found = Object.entries(objectAt(settings.Networks));
  const chosen = line === null ? new Map<string, ChosenAddress>() : chosenAddresses(line);
  const interfaces = interfaceNames(
    found.map(([name]) => name),
    chosen,
    line,
  );
  const networks = found.map(([name, endpoint]) => {
    const address = chosen.get(name) ?? (found.length === 1 ? (chosen.get("") ?? chosen.get("bridge")) : undefined);
    const interfaceName = interfaces.get(name);
    return [
      name,
      {
        ...objectAt(endpoint),
        Aliases: aliasesOf(endpoint, raw),
        ...chosenEndpoint(address),
        ...(interfaceName === undefined ? {} : { InterfaceName: interfaceName }),
      },
    ];
  });
  return { ...settings, Networks: Object.fromEntries(networks) };
}

/**
 * None unless one was chosen. Otherwise all of them, because networks are connected in turn and one without a name would take another's;
 * Podman assigns missing names in random order.
 */
function interfaceNames(
  networks: readonly string[],
  chosen: ReadonlyMap<string, ChosenAddress>,
  line: CommandLine | null,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const [only, ...others] = networks;
  for (const [network, { interface_name: name }] of chosen) {
    const isDefault = others.length === 0 && (network === "" || network === "bridge");
    const meant = isDefault ? only : network;
    if (name !== "" && meant !== undefined && networks.includes(meant)) names.set(meant, name);
  }
  if (names.size === 0) return names;
  const written = line === null ? [] : writtenNetworks(line);
  const ordered = [...new Set([...written.filter((each) => networks.includes(each)), ...networks])];
  const taken = new Set(names.values());
  let number = 0;
  for (const network of ordered.filter((each) => !names.has(each))) {
    while (taken.has(`eth${number}`)) number += 1;
    taken.add(`eth${number}`);
    names.set(network, `eth${number}`);
  }
  return names;
}

function aliasesOf(endpoint: unknown, raw: RawObject): readonly string[] {
  const own = stringAt(raw.Id).slice(0, 12);
  return stringsAt(objectAt(endpoint).Aliases).filter((alias) => alias !== own);
}

function chosenEndpoint(address: ChosenAddress | undefined): RawObject {
  if (address === undefined) return { IPAMConfig: null };
  const ipam = {
    ...(address.ipv4 === "" ? {} : { IPv4Address: address.ipv4 }),
    ...(address.ipv6 === "" ? {} : { IPv6Address: address.ipv6 }),
  };
  return { IPAMConfig: ipam, ...(address.mac === "" ? {} : { ChosenMacAddress: address.mac.toLowerCase() }) };
}
