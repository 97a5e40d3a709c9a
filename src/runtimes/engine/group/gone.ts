import { say } from "../../../messages/message.ts";
import type { Refusal } from "../../runtime.ts";
import { type Blueprint, sharesNetwork, volumeName } from "../carry.ts";
import type { EngineClient } from "../client.ts";
import { isObject, listAt, objectAt, type RawObject, stringAt, stringsAt } from "../raw.ts";
import { type SnapshotMember, snapshotBlueprint } from "../snapshot.ts";

export type NeedsClient = Pick<EngineClient, "hasVolume" | "hasNetwork" | "flavour">;

/**
 * Refusals for the volumes and networks that these members need and that the engine no longer has: it would make an empty volume
 * without a word, and miss a network only when the target is stopped. Where the engine cannot be asked nothing is refused.
 */
export async function goneNeeds(
  client: NeedsClient,
  members: readonly SnapshotMember[],
  apiVersion: string,
): Promise<readonly Refusal[]> {
  const needs = members.map((member) => ({ member, shape: snapshotBlueprint(member, apiVersion) }));
  const namesBy = (namesOf: (shape: Blueprint) => readonly string[]) => {
    const users = new Map<string, string[]>();
    for (const { member, shape } of needs) {
      for (const name of new Set(namesOf(shape))) users.set(name, [...(users.get(name) ?? []), member.name]);
    }
    return [...users].map(([name, all]) => ({ name, users: all }));
  };
  const gone: Refusal[] = [];
  for (const { name, users } of namesBy(volumesOf)) {
    if ((await client.hasVolume(name)) !== false) continue;
    const command = `${client.flavour.kind} volume create ${name}`;
    gone.push({
      code: "volume_gone",
      message: say("restoring.volume_gone", { name, users, command }),
    });
  }
  for (const { name, users } of namesBy(networksOf)) {
    if ((await client.hasNetwork(name)) !== false) continue;
    gone.push({
      code: "network_gone",
      message: say("restoring.network_gone", { name, users }),
    });
  }
  return gone;
}

/**
 * The same member without the ids of networks that were made again under their names since, as `down` and `up` of compose do, and
 * the engine itself with its own one: it would take an old id, and not connect the container by it.
 */
export async function withNetworksNow(
  client: Pick<EngineClient, "hasNetwork">,
  member: SnapshotMember,
): Promise<SnapshotMember> {
  const { container } = member;
  const networks: Record<string, RawObject | null> = {};
  for (const [name, raw] of Object.entries(container.NetworkSettings?.Networks ?? {})) {
    const id = stringAt(objectAt(raw).NetworkID);
    const isOld = id !== "" && (await client.hasNetwork(id)) === false;
    networks[name] = isOld ? { ...raw, NetworkID: "" } : (raw ?? null);
  }
  return {
    ...member,
    container: { ...container, NetworkSettings: { ...container.NetworkSettings, Networks: networks } },
  };
}

/** By name, anonymous ones too: they are mounted again by the names that the engine gave them. */
function volumesOf({ mounts, host_config: host }: Blueprint): readonly string[] {
  const mounted = mounts.filter((mount) => mount.Type === "volume").map(volumeName);
  const named = listAt(host.Mounts)
    .filter(isObject)
    .filter((mount) => mount.Type === "volume")
    .map((mount) => stringAt(mount.Source));
  const bound = stringsAt(host.Binds).flatMap((bind) => {
    const [source = "", destination] = bind.split(":");
    return destination === undefined || source.startsWith("/") ? [] : [source];
  });
  return [...mounted, ...named, ...bound].filter((name) => name !== "");
}

/** Modes that name no network that somebody made. */
const withoutNetwork = /^(|default|bridge|private|(host|none|container|ns|slirp4netns|pasta)(:.*)?)$/;

/** The mode, too: the create call names it, also where the container was taken off that network or the mode is an id. */
function networksOf({ attachments, host_config: host }: Blueprint): readonly string[] {
  if (sharesNetwork(host)) return [];
  const names = [...attachments.map(({ network }) => network), stringAt(host.NetworkMode)];
  return names.filter((name) => !withoutNetwork.test(name));
}
