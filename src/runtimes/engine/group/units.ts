import { PluginError } from "../../../errors.ts";
import { say } from "../../../messages/message.ts";
import type { Refusal, TargetRef } from "../../target.ts";
import type { CarriedFiles } from "../apply.ts";
import { blueprint } from "../carry.ts";
import type { EngineClient } from "../client.ts";
import {
  carriedFilesLabels,
  findInjectedFiles,
  readInjectedFiles,
  writeInjectedFiles,
} from "../compose/injected-files.ts";
import { isToRunAgain, type SceneSource } from "../container-plan.ts";
import { type ContainerInspect, nameOf } from "../objects.ts";
import { foreignPlatform, tagAsReferenced } from "../prepare.ts";
import { stringAt } from "../raw.ts";
import { imageRefusals } from "../refusals.ts";
import { type Captured, isToRun, type SnapshotMember, snapshotBlueprint, writeSnapshot } from "../snapshot.ts";
import { orNull } from "../survey.ts";
import type { Unit } from "./apply.ts";
import type { Lost, Rebuild } from "./rebuild.ts";
import type { Restored } from "./restore.ts";
import { getTarget } from "./target.ts";
import { arrange, arrangeable, dependantsOf, type Replaced } from "./target-plan.ts";

/** Replaces a container by one from another image, or, for dependants, from its own. Throws when the image is not here. */
export async function unitOf(client: EngineClient, replaced: Replaced): Promise<Unit> {
  const { scene, change, desired } = replaced;
  const { container, image } = scene;
  const reference = change === null ? stringAt(container.Config.Image) : change.reference;
  const newImage = change === null ? image : (desired ?? (await orNull(client.inspectImage(change.reference))));
  if (newImage === null || image === null) {
    throw new PluginError("rejected", say("engine.image_not_pulled", { reference }));
  }
  if (change !== null) await tagAsReferenced(client, change, newImage);
  return {
    name: nameOf(container),
    old: container,
    is_owed: scene.is_owed,
    is_to_run: isToRunAgain(scene),
    blueprint: blueprint({
      container,
      oldImage: image,
      newImage,
      reference,
      inherited: scene.inherited ?? new Set(),
      apiVersion: scene.apiVersion,
    }),
    new_image_config: newImage.Config,
    platform: foreignPlatform(scene),
    files: carriedFiles(client, await filesOf(client, container)),
    is_job: replaced.is_job === true,
    known_as: [container.Id],
    origin: container,
  };
}

/** Replaces a container by one from a snapshot. */
export function restoredUnit(
  { client, apiVersion, engine_platform }: Pick<SceneSource, "client" | "apiVersion" | "engine_platform">,
  { member, present }: Restored,
): Unit {
  const old = present?.container ?? null;
  return {
    name: member.name,
    old,
    is_owed: present?.is_owed ?? false,
    is_to_run: isToRun(member, old),
    blueprint: snapshotBlueprint(member, apiVersion),
    new_image_config: member.image.Config,
    platform: foreignPlatform({ image: member.image, engine_platform }),
    files: carriedFiles(client, member.files === null ? null : Buffer.from(member.files, "base64")),
    // Its work is done.
    is_job: false,
    known_as: [member.container.Id, ...(old === null ? [] : [old.Id])],
    origin: member.container,
  };
}

/** Recreates a previous container from the run's own snapshot. */
export function rebuildFrom(client: EngineClient, members: readonly SnapshotMember[], apiVersion: string): Rebuild {
  return (name): Lost | null => {
    const member = members.find((each) => each.name === name);
    if (member === undefined) return null;
    return {
      id: member.container.Id,
      blueprint: snapshotBlueprint(member, apiVersion),
      image_config: member.image.Config,
      files: carriedFiles(client, member.files === null ? null : Buffer.from(member.files, "base64")),
    };
  };
}

/** What compose wrote into a container, as an archive; null when there is nothing. Throws for what cannot be carried. Secret. */
async function filesOf(client: EngineClient, container: ContainerInspect): Promise<Uint8Array | null> {
  const { files, refusals } = await findInjectedFiles(client, container);
  const [refusal] = refusals;
  if (refusal !== undefined) throw new PluginError("rejected", refusal.message);
  return await readInjectedFiles(client, container.Id, files);
}

function carriedFiles(client: EngineClient, archive: Uint8Array | null): CarriedFiles | null {
  if (archive === null) return null;
  return {
    labels: () => carriedFilesLabels(archive),
    write: (newId) => writeInjectedFiles(client, newId, archive),
  };
}

/**
 * The complete configuration of a target and its dependants, before anything is replaced. Dependencies come first. A container that cannot
 * be saved is left out if there are others: a run replaces none of those, and an unbound one must not block the rest.
 */
export async function capture(source: SceneSource, ref: TargetRef): Promise<string> {
  const found = await getTarget(source, ref);
  const members: Replaced[] = [];
  for (const { container, service } of found.members) {
    members.push({ scene: await found.sceneOf(container), service, because: "desired", change: null, desired: null });
  }
  const dependants = await dependantsOf(found, members);
  const { order } = arrange([...members, ...dependants].map(arrangeable));
  const captured: Captured[] = [];
  const leftOut: Refusal[] = [];
  for (const each of order) {
    const { container, image } = each.scene;
    const [refusal] = [
      ...imageRefusals(container, image),
      ...(await findInjectedFiles(source.client, container)).refusals,
    ];
    if (refusal !== undefined) {
      leftOut.push(refusal);
      continue;
    }
    const archive = await filesOf(source.client, container);
    const files = archive === null ? null : Buffer.from(archive).toString("base64");
    const role = dependants.includes(each) ? ("dependant" as const) : ("target" as const);
    captured.push({ scene: each.scene, service: each.service, role, files });
  }
  const [reason] = leftOut;
  if (captured.length === 0 && reason !== undefined) throw new PluginError("not_found", reason.message);
  return writeSnapshot(ref, source.apiVersion, captured);
}
