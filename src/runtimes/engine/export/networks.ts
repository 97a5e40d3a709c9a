import type { Attachment } from "../carry.ts";
import { isBlank, isUnset, listAt, objectAt, type RawObject, stringAt, stringMapAt, stringsAt } from "../raw.ts";
import type { Word } from "./conceal.ts";
import type { OwnSettings } from "./member.ts";
import { csv } from "./mounts.ts";

/** `[address:][port on the host:]port/protocol`, for each binding. */
export function publishedPorts(host: RawObject): readonly string[] {
  return Object.entries(objectAt(host.PortBindings)).flatMap(([port, bindings]) =>
    listAt(bindings)
      .map(objectAt)
      .map(({ HostIp, HostPort }) => {
        const ip = stringAt(HostIp);
        const address = ip.includes(":") ? `[${ip}]` : ip;
        const published = stringAt(HostPort);
        if (address === "" && published === "") return port;
        return `${address === "" ? "" : `${address}:`}${published}:${port}`;
      }),
  );
}

/** The main network; others are connected afterwards, except where create takes several: older engines only take one. */
export function networkOptions(settings: OwnSettings): readonly Word[] {
  const mode = stringAt(settings.host.NetworkMode);
  const { main, mac_address: mac } = settings;
  const rest: readonly Word[] = [
    ...(mac === "" ? [] : [[`--mac-address=${mac}`]]),
    ...ownLinks(settings).map((link) => [`--link=${link}`]),
    ...settings.further
      .filter((each) => isForCreate(settings, each))
      .map((each): Word => ["--network=", ...csv(longForm(each, each.network))]),
  ];
  // Clients refuse links with a named network, even the default one.
  const isDefault = mode === "" || mode === "default" || (mode === "bridge" && !isBlank(settings.host.Links));
  if (isDefault) return rest;
  if (main === null) return [[`--network=${mode}`], ...rest];
  const extra = endpointFields(main);
  // Only the long form has these options, but it works beside everything else.
  const network: Word =
    extra.length === 0 ? [`--network=${mode}`] : ["--network=", ...csv([["name", [mode]], ...extra])];
  return [network, ...addressOptions(main, "network-alias"), ...rest];
}

/**
 * `network connect` has no MAC option. Engines that report one for each network take several at create, but none besides the default one.
 */
export function isForCreate({ main }: OwnSettings, { endpoint }: Attachment): boolean {
  return stringAt(endpoint.MacAddress) !== "" && main !== null && main.network !== "bridge";
}

/** Links of the network only. */
function ownLinks({ main, host }: OwnSettings): readonly string[] {
  const known = stringsAt(host.Links);
  return stringsAt(main?.endpoint.Links).filter((link) => !known.includes(link));
}

function longForm(attachment: Attachment, network: string): readonly (readonly [string, Word])[] {
  const mac = stringAt(attachment.endpoint.MacAddress);
  const addresses = addressOptions(attachment, "alias").map(([option = ""]) => {
    const equals = option.indexOf("=");
    return [option.slice(2, equals), [option.slice(equals + 1)]] as const;
  });
  return [
    ["name", [network]],
    ...addresses,
    ...endpointFields(attachment),
    ...(mac === "" ? [] : [["mac-address", [mac]] as const]),
  ];
}

function endpointFields({ endpoint }: Attachment): readonly (readonly [string, Word])[] {
  const options = Object.entries(stringMapAt(endpoint.DriverOpts));
  return [
    ...options.map(([key, value]) => ["driver-opt", [`${key}=${value}`]] as const),
    ...(isUnset(endpoint.GwPriority) ? [] : [["gw-priority", [String(endpoint.GwPriority)]] as const]),
  ];
}

function addressOptions({ endpoint }: Attachment, aliasOption: string): readonly (readonly string[])[] {
  const ipam = objectAt(endpoint.IPAMConfig);
  const [ip, ip6] = [stringAt(ipam.IPv4Address), stringAt(ipam.IPv6Address)];
  return [
    ...(ip === "" ? [] : [[`--ip=${ip}`]]),
    ...(ip6 === "" ? [] : [[`--ip6=${ip6}`]]),
    ...stringsAt(ipam.LinkLocalIPs).map((address) => [`--link-local-ip=${address}`]),
    ...stringsAt(endpoint.Aliases).map((alias) => [`--${aliasOption}=${alias}`]),
  ];
}

/** The options of `network connect` for a network besides the main one. */
export function connectOptions(attachment: Attachment): readonly Word[] {
  return [
    ...addressOptions(attachment, "alias"),
    ...stringsAt(attachment.endpoint.Links).map((link) => [`--link=${link}`]),
    ...Object.entries(stringMapAt(attachment.endpoint.DriverOpts)).map(([key, value]) => [
      `--driver-opt=${key}=${value}`,
    ]),
    ...(isUnset(attachment.endpoint.GwPriority) ? [] : [[`--gw-priority=${String(attachment.endpoint.GwPriority)}`]]),
  ];
}
