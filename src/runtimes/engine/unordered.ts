import { bindDestination } from "./carry.ts";
import { variableName } from "./merge.ts";
import { canonical, listAt, objectAt, type RawObject, stringAt } from "./raw.ts";

/** The key of a list's members; of two members with the same key, one overrides the other by its position. */
type Key = (member: unknown) => string;

const upTo = (end: RegExp) => (member: unknown) => stringAt(member).split(end)[0] ?? "";
const named = (field: string) => (member: unknown) => stringAt(objectAt(member)[field]);
const byPath = named("Path");

/**
 * The lists in an inspection whose order has no meaning: a container's creator (compose writes several from maps) may use any order. In all
 * others the order matters: words of commands, name servers and search domains, containers whose volumes cover each other, rules for
 * devices.
 */
const configSets: Readonly<Record<string, Key>> = { Env: (line) => variableName(stringAt(line)) };

const hostSets: Readonly<Record<string, Key>> = {
  Binds: (bind) => bindDestination(stringAt(bind)),
  BlkioDeviceReadBps: byPath,
  BlkioDeviceReadIOps: byPath,
  BlkioDeviceWriteBps: byPath,
  BlkioDeviceWriteIOps: byPath,
  BlkioWeightDevice: byPath,
  CapAdd: canonical,
  CapDrop: canonical,
  Dependencies: canonical,
  DeviceRequests: canonical,
  Devices: named("PathInContainer"),
  DnsOptions: upTo(/:/),
  ExtraHosts: upTo(/[:=]/),
  GroupAdd: canonical,
  Links: canonical,
  MaskedPaths: canonical,
  Mounts: named("Target"),
  ReadonlyPaths: canonical,
  SecurityOpt: upTo(/[:=]/),
  Ulimits: named("Name"),
};

const endpointSets: Readonly<Record<string, Key>> = { Aliases: canonical, Links: canonical };

export function unorderedConfig(config: RawObject): RawObject {
  return unordered(config, configSets);
}

export function unorderedHost(host: RawObject): RawObject {
  const ports = Object.entries(objectAt(host.PortBindings)).map(([port, list]) => [
    port,
    sorted(listAt(list), canonical),
  ]);
  return { ...unordered(host, hostSets), PortBindings: Object.fromEntries(ports) };
}

export function unorderedEndpoint(endpoint: RawObject): RawObject {
  const { IPAMConfig: ipam } = endpoint;
  const addresses = { IPAMConfig: unordered(objectAt(ipam), { LinkLocalIPs: canonical }) };
  return { ...unordered(endpoint, endpointSets), ...(ipam === undefined ? {} : addresses) };
}

function unordered(value: RawObject, sets: Readonly<Record<string, Key>>): RawObject {
  const lists = Object.entries(sets).flatMap(([field, key]) => {
    const list = value[field];
    return Array.isArray(list) ? [[field, sorted(list, key)] as const] : [];
  });
  return { ...value, ...Object.fromEntries(lists) };
}

function sorted(list: readonly unknown[], key: Key): readonly unknown[] {
  const keyed = list.map((member) => ({ member, key: key(member) }));
  keyed.sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
  return keyed.map(({ member }) => member);
}
