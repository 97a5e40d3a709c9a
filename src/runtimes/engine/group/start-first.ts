import { plain } from "../../../messages/message.ts";
import type { Refusal } from "../../runtime.ts";
import { attachments } from "../carry.ts";
import { nameOf } from "../objects.ts";
import { isBlank, listAt, objectAt, stringAt } from "../raw.ts";
import type { Replaced } from "./plan.ts";

/**
 * Why a container cannot run beside its successor for a while: what only one of them can have. Volumes can be shared by both;
 * whether the application bears that is for whoever opts in to know.
 */
export function startFirstRefusals(
  { scene }: Replaced,
  dependants: readonly Replaced[],
  label: string | null,
): readonly Refusal[] {
  const { container } = scene;
  const name = label ?? nameOf(container);
  const refuse = (what: string): Refusal => ({
    code: "start_first",
    message: plain(`"${name}" cannot run beside its successor: ${what}; switch "start before stop" off`),
  });
  const { HostConfig: host } = container;
  const ports = Object.values(objectAt(host.PortBindings)).flatMap(listAt).map(objectAt);
  const networks = Object.values(container.NetworkSettings?.Networks ?? {}).map(objectAt);
  const mode = stringAt(host.NetworkMode);
  const isFixed = networks.some((network) => !isBlank(network.IPAMConfig));
  const isMacFixed = attachments(container, scene.apiVersion).some(({ endpoint }) => !isBlank(endpoint.MacAddress));
  return [
    ...(ports.some((port) => !["", "0"].includes(stringAt(port.HostPort))) ? [refuse("it publishes host ports")] : []),
    ...(mode === "host" || mode.startsWith("container:") ? [refuse(`it uses the network "${mode}"`)] : []),
    ...(isFixed ? [refuse("it has a fixed address")] : []),
    ...(isMacFixed || stringAt(container.Config.MacAddress) !== "" ? [refuse("it has a fixed MAC address")] : []),
    ...(dependants.length > 0
      ? [refuse(`${dependants.map((each) => `"${nameOf(each.scene.container)}"`).join(", ")} hang on it`)]
      : []),
  ];
}
