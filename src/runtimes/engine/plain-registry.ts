import { BlockList, isIP } from "node:net";
import { bareHost } from "../../net/address.ts";
import type { Flavour } from "./flavour.ts";
import { listAt, objectAt, type RawObject, stringAt } from "./raw.ts";
import { isSameRegistry, registryOf, splitReference } from "./reference.ts";

/**
 * Whether an engine pulls an image without TLS, by its `GET /info`: Docker lists hosts and networks, always including the loopback
 * network; Podman lists names and prefixes, as in `registries.conf`, where a host without a port means all ports. Which
 * names resolve to such a network, only the engine itself knows.
 */
export function isPlainRegistry(info: RawObject, image: string, kind: Flavour["kind"]): boolean {
  const host = registryOf(image);
  if (host === null) return false;
  const { IndexConfigs: indexes, InsecureRegistryCIDRs: networks } = objectAt(info.RegistryConfig);
  const { repository } = splitReference(image);
  const names = Object.entries(objectAt(indexes)).flatMap(([name, index]) =>
    objectAt(index).Secure === false ? [name] : [],
  );
  const named = names.some((name) =>
    kind === "podman" ? isBelow(repository, host, name) : isSameRegistry(name, host),
  );
  return named || listAt(networks).some((network) => isWithin(host, stringAt(network)));
}

/** `reg.test:5000` and `reg.test/team` match as prefixes, `*.lan.test` matches every host below it. */
function isBelow(repository: string, host: string, name: string): boolean {
  if (name.startsWith("*.")) return withoutPort(host).endsWith(name.slice(1));
  return repository === name || repository.startsWith(`${name}/`) || withoutPort(host) === name;
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, "");
}

function isWithin(host: string, network: string): boolean {
  const name = bareHost(withoutPort(host));
  const address = name === "localhost" ? "127.0.0.1" : name;
  const [start = "", length = ""] = network.split("/");
  const family = isIP(start) === 4 ? "ipv4" : "ipv6";
  const prefix = Number(length);
  if (isIP(start) === 0 || isIP(start) !== isIP(address) || !/^\d{1,3}$/.test(length)) return false;
  if (prefix > (family === "ipv4" ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(start, prefix, family);
  return list.check(address, family);
}
