import { type Message, say } from "../../../messages/message.ts";
import type { Refusal } from "../../target.ts";
import { attachments } from "../carry.ts";
import { nameOf } from "../objects.ts";
import { isBlank, listAt, objectAt, stringAt } from "../raw.ts";
import type { Replaced } from "./target-plan.ts";

/**
 * Why a container cannot run beside its successor: resources that only one can have. Both can share volumes; the administrator who opts in
 * must know whether the application tolerates that.
 */
export function startFirstRefusals(
  { scene }: Replaced,
  dependants: readonly Replaced[],
  label: string | null,
): readonly Refusal[] {
  const { container } = scene;
  const name = label ?? nameOf(container);
  const refuse = (cause: Message): Refusal => ({
    code: "start_first",
    message: say("refusals.start_first", { name, cause }),
  });
  const { HostConfig: host } = container;
  const ports = Object.values(objectAt(host.PortBindings)).flatMap(listAt).map(objectAt);
  const networks = Object.values(container.NetworkSettings?.Networks ?? {}).map(objectAt);
  const mode = stringAt(host.NetworkMode);
  const isFixed = networks.some((network) => !isBlank(network.IPAMConfig));
  const isMacFixed = attachments(container, scene.apiVersion).some(({ endpoint }) => !isBlank(endpoint.MacAddress));
  return [
    ...(ports.some((port) => !["", "0"].includes(stringAt(port.HostPort)))
      ? [refuse(say("refusals.publishes_ports"))]
      : []),
    ...(mode === "host" || mode.startsWith("container:")
      ? [refuse(say("refusals.uses_network", { network: mode }))]
      : []),
    ...(isFixed ? [refuse(say("refusals.fixed_address"))] : []),
    ...(isMacFixed || stringAt(container.Config.MacAddress) !== "" ? [refuse(say("refusals.fixed_mac_address"))] : []),
    ...(dependants.length > 0
      ? [refuse(say("refusals.others_depend", { names: dependants.map((each) => nameOf(each.scene.container)) }))]
      : []),
  ];
}
