import { PluginError } from "../../errors.ts";
import { attachments } from "./carry.ts";
import type { EngineClient } from "./client.ts";
import { type ContainerInspect, nameOf } from "./objects.ts";
import { stringAt } from "./raw.ts";

/** Modes that are no networks of the engine's: such a container has none to lose. */
const withoutNetworks = /^(none|host|private|slirp4netns|pasta|container:|ns:)/;

/**
 * Starts a container, unless an earlier start took it off its networks: Docker 29 does that when it cannot bind a published port,
 * and would start it without any the next time, reachable for nobody (moby issue 51758). Such a start throws `rejected`; one that
 * fails now leaves the container on the networks that it was on before.
 */
export async function startConnected(
  client: EngineClient,
  container: ContainerInspect,
  apiVersion: string,
): Promise<void> {
  if (hasLostNetworks(container)) {
    throw new PluginError("rejected", `"${nameOf(container)}" lost its networks when the engine failed to start it`);
  }
  try {
    await client.startContainer(container.Id);
  } catch (error) {
    if (!(error instanceof PluginError)) throw error;
    await reconnect(client, container, apiVersion);
    throw error;
  }
}

function hasLostNetworks({ Config, HostConfig, NetworkSettings, State }: ContainerInspect): boolean {
  // Somebody may have taken it off all networks: then no start of it has failed.
  if (stringAt(State.Error) === "" || Config.NetworkDisabled === true) return false;
  const mode = stringAt(HostConfig.NetworkMode);
  return !withoutNetworks.test(mode) && Object.keys(NetworkSettings?.Networks ?? {}).length === 0;
}

async function reconnect(client: EngineClient, before: ContainerInspect, apiVersion: string): Promise<void> {
  try {
    const left = attachments(await client.inspectContainer(before.Id), apiVersion).map((each) => each.network);
    for (const { network, network_id, endpoint } of attachments(before, apiVersion)) {
      if (!left.includes(network)) await client.connectNetwork(network_id || network, before.Id, endpoint);
    }
  } catch (error) {
    // What the start said is what matters; the next attempt finds it without networks and says that.
    if (!(error instanceof PluginError)) throw error;
  }
}
