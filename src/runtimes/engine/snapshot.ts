import { createHash } from "node:crypto";
import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import type { Refusal, RegistryAuth, TargetRef, UpdatePlan } from "../runtime.ts";
import { type Blueprint, blueprint, carriedCounts } from "./carry.ts";
import type { EngineClient } from "./client.ts";
import { fieldDiffs } from "./diff.ts";
import { ContainerInspect, ImageInspect, isRunning } from "./objects.ts";
import { mainService, planHash, type Scene, type SceneSource } from "./plan.ts";
import { authFor, tagAsReferenced } from "./prepare.ts";
import { canonical, stringAt } from "./raw.ts";
import { digestFor, splitReference } from "./reference.ts";
import { refusalsOf, warningsOf } from "./refusals.ts";
import { orNull } from "./survey.ts";

const format = 1;

/** Everything that the engine says about a container and its image. Holds secrets: the caller encrypts it. */
const Snapshot = v.object({
  format: v.literal(format, "This snapshot was made by another version of Tidemark"),
  name: v.string(),
  api_version: v.string(),
  container: ContainerInspect,
  image: ImageInspect,
  inherited: v.array(v.string()),
});
export type Snapshot = v.InferOutput<typeof Snapshot>;

export function writeSnapshot(scene: Scene): string {
  if (scene.image === null) throw new PluginError("rejected", "The image of the container is no longer on the engine");
  const snapshot: Snapshot = {
    format,
    name: scene.ref.id,
    api_version: scene.apiVersion,
    container: scene.container,
    image: scene.image,
    inherited: [...(scene.inherited ?? [])],
  };
  return JSON.stringify(snapshot);
}

export function readSnapshot(text: string): Snapshot {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PluginError("malformed", "The snapshot is not JSON", { cause: error });
  }
  const parsed = v.safeParse(Snapshot, value);
  if (parsed.success) return parsed.output;
  throw new PluginError("malformed", `The snapshot cannot be read: ${parsed.issues[0].message}`);
}

/** The image to pull should the engine no longer have it: by the digest it was pulled with, null when it never was. */
function snapshotDigest(snapshot: Snapshot): string | null {
  const { repository } = splitReference(stringAt(snapshot.container.Config.Image));
  const digest = digestFor(snapshot.image.RepoDigests ?? [], repository);
  return digest === null ? (snapshot.image.RepoDigests?.[0] ?? null) : `${repository}@${digest}`;
}

/** Old and new image are one, so that every default comes out as it was. */
export function snapshotBlueprint(snapshot: Snapshot, apiVersion: string): Blueprint {
  return blueprint({
    container: snapshot.container,
    oldImage: snapshot.image,
    newImage: snapshot.image,
    reference: stringAt(snapshot.container.Config.Image),
    inherited: new Set(snapshot.inherited),
    apiVersion,
  });
}

/**
 * Whether a restored container is to run: it ran when it was captured, or what it takes the place of runs now. A rollback brings
 * back what is down, and leaves nothing down that serves: the snapshot of a container that had crashed must not stop its successor.
 */
export function isToRun(snapshot: Snapshot, present: ContainerInspect | null): boolean {
  return isRunning(snapshot.container) || (present !== null && isRunning(present));
}

/** The plan that leads back to a snapshot; `scene` is null when the container is gone. */
export async function planRestore(
  source: SceneSource,
  ref: TargetRef,
  scene: Scene | null,
  text: string,
): Promise<UpdatePlan> {
  const snapshot = readSnapshot(text);
  const shape = snapshotBlueprint(snapshot, source.apiVersion);
  const to = stringAt(snapshot.container.Config.Image);
  const digest = snapshotDigest(snapshot);
  const from = scene?.container ?? null;
  const wasRunning = from !== null && isRunning(from);
  const isHere = (await orNull(source.client.inspectImage(snapshot.image.Id))) !== null;
  return {
    ref,
    changes: [],
    services: [
      {
        service: mainService,
        from: {
          reference: stringAt(from?.Config.Image),
          digest: presentDigest(scene),
          image_id: from?.Image ?? "",
          is_running: wasRunning,
        },
        to: {
          reference: to,
          digest: digest === null ? null : splitReference(digest).digest,
          is_running: isToRun(snapshot, from),
        },
      },
    ],
    containers: [{ name: ref.id, service: mainService, because: "desired", is_running: isToRun(snapshot, from) }],
    order: "stop_first",
    files: [],
    diff: from === null ? [] : fieldDiffs(mainService, from, shape).map((each) => ({ ...each, because: "desired" })),
    carried: carriedCounts(snapshot.container, snapshot.image, shape),
    refusals: [
      ...(scene === null ? [] : refusalsOf(scene.container, scene.around)),
      ...nameRefusals(snapshot, ref),
      ...(isHere || digest !== null ? [] : [imageGone(to)]),
    ],
    warnings: scene === null ? [] : warningsOf(scene.container, scene.around),
    is_noop:
      from !== null && wasRunning === isToRun(snapshot, from) && isSameConfiguration(from, snapshot, source.apiVersion),
    hash: restoreHash(from, source.apiVersion, text),
  };
}

function presentDigest(scene: Scene | null): string | null {
  if (scene === null || scene.image === null) return null;
  const { repository } = splitReference(stringAt(scene.container.Config.Image));
  return digestFor(scene.image.RepoDigests ?? [], repository);
}

function nameRefusals(snapshot: Snapshot, ref: TargetRef): readonly Refusal[] {
  if (snapshot.name === ref.id) return [];
  return [{ code: "other_target", message: `The snapshot is of "${snapshot.name}", not of "${ref.id}"` }];
}

function imageGone(reference: string): Refusal {
  return {
    code: "image_gone",
    message: `The image "${reference}" of the snapshot is no longer on the engine and was never pulled by a digest`,
  };
}

function isSameConfiguration(container: ContainerInspect, snapshot: Snapshot, apiVersion: string): boolean {
  const wanted = { ...snapshot.container, State: container.State };
  return planHash(container, apiVersion, {}) === planHash(wanted, apiVersion, {});
}

export function restoreHash(container: ContainerInspect | null, apiVersion: string, text: string): string {
  const snapshot = createHash("sha256").update(text).digest("hex");
  if (container !== null) return planHash(container, apiVersion, { snapshot });
  return createHash("sha256")
    .update(canonical({ found: null, snapshot }))
    .digest("hex");
}

/** Brings the snapshot's image back, by id or by digest, and points its tag at it again. */
export async function fetchSnapshotImage(
  client: EngineClient,
  snapshot: Snapshot,
  auths: readonly RegistryAuth[],
  onProgress: Parameters<EngineClient["pullImage"]>[3],
): Promise<ImageInspect> {
  const digest = snapshotDigest(snapshot);
  const reference = stringAt(snapshot.container.Config.Image);
  let image = await orNull(client.inspectImage(snapshot.image.Id));
  if (image === null) {
    if (digest === null) throw new PluginError("not_found", imageGone(reference).message);
    await client.pullImage(digest, null, authFor(digest, auths), onProgress);
    image = await client.inspectImage(digest);
  }
  if (image.Id !== snapshot.image.Id) {
    throw new PluginError("rejected", `The registry's ${digest ?? reference} is another image than the snapshot's`);
  }
  const isById = /^sha256:[0-9a-f]{64}$/.test(reference);
  if (!isById) await tagAsReferenced(client, { reference }, image);
  return image;
}
