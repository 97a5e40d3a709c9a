import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { type Attachment, attachments, mainAttachment } from "./carry.ts";
import type { EngineClient } from "./client.ts";
import { type ContainerInspect, nameOf } from "./objects.ts";
import { objectAt, stringAt } from "./raw.ts";

/** Modes that are not networks of the engine: such a container has none to lose. */
const withoutNetworks = /^(none|host|private|slirp4netns|pasta|container:|ns:)/;

/**
 * Starts a container on all of its networks. If a start fails at a network, Docker 29 disconnects the container from it, and would
 * start it without that network the next time, unreachable (moby issue 51758). `known`: its networks according to the run's snapshot;
 * if they are unknown, such a start throws `rejected`. A start that fails now leaves the container on its networks.
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
      // The start's own error matters more; the next attempt connects again.
      if (!(fault instanceof PluginError)) throw fault;
    }
    throw error;
  }
}

/** The network of its mode if a failed start disconnected the container from it; else null. */
export function lostNetwork(container: ContainerInspect): string | null {
  if (!mayHaveLost(container)) return null;
  const attached = { attachments: attachments(container, "1.56"), host_config: container.HostConfig };
  return mainAttachment(attached) === null ? stringAt(container.HostConfig.NetworkMode) || "bridge" : null;
}

/** The last start failed at a network. The engine reports no other network that was lost. */
export function hasFailedAtNetwork(container: ContainerInspect): boolean {
  return mayHaveLost(container) && /networking|external connectivity/i.test(stringAt(container.State.Error));
}

/** Its last start failed, on an engine that then drops networks. */
function mayHaveLost({ Config, HostConfig, State, NetworkSettings }: ContainerInspect): boolean {
  // Somebody may have disconnected it on purpose: then no start has failed.
  if (stringAt(State.Error) === "" || Config.NetworkDisabled === true) return false;
  if (withoutNetworks.test(stringAt(HostConfig.NetworkMode))) return false;
  // Podman's mode names no network, and older engines keep all of them.
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
