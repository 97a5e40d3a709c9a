import { say } from "../../../messages/message.ts";
import type { Refusal } from "../../target.ts";
import { type Blueprint, sharesNetwork, volumeName } from "../carry.ts";
import type { EngineClient } from "../client.ts";
import { isObject, listAt, objectAt, type RawObject, stringAt, stringsAt } from "../raw.ts";
import { type SnapshotMember, snapshotBlueprint } from "../snapshot.ts";

export type NeedsClient = Pick<EngineClient, "hasVolume" | "hasNetwork" | "flavour">;

/**
 * Refusals for volumes and networks that these members need and the engine no longer has: it would silently create an empty volume, and
 * only miss a network once the target is stopped. Refuses nothing if the engine cannot be queried.
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
 * The same member without ids of networks that were recreated under their names since, by compose's `down` and `up` or by the engine: the
 * engine would accept an old id, and not connect the container.
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

/** By name, including anonymous ones: they are mounted again by the engine's names for them. */
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

/** Modes without a network of somebody's own. */
const withoutNetwork = /^(|default|bridge|private|(host|none|container|ns|slirp4netns|pasta)(:.*)?)$/;

/** Includes the mode: the create call names it, even where the container was disconnected or the mode is an id. */
function networksOf({ attachments, host_config: host }: Blueprint): readonly string[] {
  if (sharesNetwork(host)) return [];
  const names = [...attachments.map(({ network }) => network), stringAt(host.NetworkMode)];
  return names.filter((name) => !withoutNetwork.test(name));
}
