import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { type Attachment, attachments, mainAttachment } from "./carry.ts";
import type { EngineClient } from "./client.ts";
import { type ContainerInspect, nameOf } from "./objects.ts";
import { objectAt, stringAt } from "./raw.ts";

/** Modes that are no networks of the engine's: such a container has none to lose. */
const withoutNetworks = /^(none|host|private|slirp4netns|pasta|container:|ns:)/;

/**
 * Starts a container on all of its networks. Docker 29 takes one that it fails to start off the network at which it failed, and would
 * start it without that one the next time, reachable for nobody (moby issue 51758). `known`: its networks as the run's snapshot has
 * them; where nobody knows them, such a start throws `rejected`. One that fails now leaves the container on its networks.
 */
export async function startConnected(
  client: EngineClient,
  container: ContainerInspect,
  known: readonly Attachment[] | null,
  apiVersion: string,
): Promise<void> {
  if (known === null && lostNetwork(container) !== null) {
    throw new PluginError("rejected", say("engine.networks_lost", { name: nameOf(container) }));
  }
  const isSuspect = mayHaveLost(container);
  const wanted = isSuspect && known !== null ? known : attachments(container, apiVersion);
  if (isSuspect) await connectMissing(client, container.Id, wanted, apiVersion);
  try {
    await client.startContainer(container.Id);
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    try {
      await connectMissing(client, container.Id, wanted, apiVersion);
    } catch (fault) {
      // What the start said is what matters; the next attempt connects again.
      if (!(fault instanceof PluginError)) throw fault;
    }
    throw error;
  }
}

/** The network of its mode, where a failed start took the container off it; null where it is on it. */
export function lostNetwork(container: ContainerInspect): string | null {
  if (!mayHaveLost(container)) return null;
  const attached = { attachments: attachments(container, "1.56"), host_config: container.HostConfig };
  return mainAttachment(attached) === null ? stringAt(container.HostConfig.NetworkMode) || "bridge" : null;
}

/** The last start failed at a network. A further one that was lost is nowhere in what the engine tells of the container. */
export function hasFailedAtNetwork(container: ContainerInspect): boolean {
  return mayHaveLost(container) && /networking|external connectivity/i.test(stringAt(container.State.Error));
}

/** Its last start failed, on an engine that drops networks then. */
function mayHaveLost({ Config, HostConfig, State, NetworkSettings }: ContainerInspect): boolean {
  // Somebody may have taken it off a network: then no start of it has failed.
  if (stringAt(State.Error) === "" || Config.NetworkDisabled === true) return false;
  if (withoutNetworks.test(stringAt(HostConfig.NetworkMode))) return false;
  // Podman's mode names none of them, and older engines keep them all.
  const left = Object.values(NetworkSettings?.Networks ?? {}).map(objectAt);
  return left.every((endpoint) => "DNSNames" in endpoint);
}

async function connectMissing(
  client: EngineClient,
  id: string,
  wanted: readonly Attachment[],
  apiVersion: string,
): Promise<void> {
  const left = attachments(await client.inspectContainer(id), apiVersion).map((each) => each.network);
  for (const { network, network_id, endpoint } of wanted) {
    if (!left.includes(network)) await client.connectNetwork(network_id || network, id, endpoint);
  }
}
