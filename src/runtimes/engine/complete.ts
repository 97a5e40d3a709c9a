import { say } from "../../messages/message.ts";
import type { Refusal } from "../target.ts";
import { sharesNetwork } from "./carry.ts";
import { compareApi, type EngineClient } from "./client.ts";
import type { ContainerInspect } from "./objects.ts";
import { isUnset, objectAt, type RawObject, stringAt } from "./raw.ts";

/** The last API version that reports which MAC address of the first network was chosen. */
const lastWithChosenMac = "1.51";

/**
 * What a successor needs and the negotiated API version omits: the chosen MAC address (`Config.MacAddress`,
 * empty for none), and a refusal for settings that only a newer version reports. Inspects once more if such a version exists.
 */
export async function completeContainer(client: EngineClient, container: ContainerInspect): Promise<ContainerInspect> {
  if (client.flavour.kind !== "docker") return container;
  return await withChosenMac(client, await withHiddenSettings(client, container));
}

async function withHiddenSettings(client: EngineClient, container: ContainerInspect): Promise<ContainerInspect> {
  const { negotiated, max } = client.api;
  if (compareApi(negotiated, max) >= 0) return container;
  const hidden = hiddenSettings(container, await client.inspectAs(container.Id, max));
  if (hidden.length === 0) return container;
  const refusal: Refusal = {
    code: "hidden_settings",
    message: say("refusals.hidden_settings", { api: negotiated, settings: hidden, newest: max }),
  };
  return { ...container, Refusals: [...(container.Refusals ?? []), refusal] };
}

async function withChosenMac(client: EngineClient, container: ContainerInspect): Promise<ContainerInspect> {
  const { negotiated, min } = client.api;
  const isShown = compareApi(negotiated, lastWithChosenMac) <= 0 || sharesNetwork(container.HostConfig);
  if (isShown || compareApi(min, lastWithChosenMac) > 0) return container;
  const older = await client.inspectAs(container.Id, lastWithChosenMac);
  return { ...container, Config: { ...container.Config, MacAddress: stringAt(older.Config.MacAddress) } };
}

/** Settings with a value that the older version has no member for. */
function hiddenSettings(shown: ContainerInspect, newest: ContainerInspect): readonly string[] {
  const missing = (part: string, ours: RawObject, theirs: RawObject) =>
    Object.keys(theirs)
      .filter((key) => !(key in ours) && !isUnset(theirs[key]))
      .map((key) => `${part}.${key}`);
  const [ours, theirs] = [shown.NetworkSettings?.Networks ?? {}, newest.NetworkSettings?.Networks ?? {}];
  return [
    ...missing("Config", shown.Config, newest.Config),
    ...missing("HostConfig", shown.HostConfig, newest.HostConfig),
    ...Object.keys(ours).flatMap((network) => missing(network, objectAt(ours[network]), objectAt(theirs[network]))),
  ].sort();
}
