import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { RegistryAuth } from "../session.ts";
import type { Refusal, TargetRef } from "../target.ts";
import { type Blueprint, blueprint } from "./carry.ts";
import type { EngineClient } from "./client.ts";
import { mainService, type Scene } from "./container-plan.ts";
import { ContainerInspect, ImageInspect, isRunning, nameOf } from "./objects.ts";
import { authFor, tagAsReferenced } from "./prepare.ts";
import { objectAt, stringAt } from "./raw.ts";
import { digestFor, splitReference } from "./reference.ts";
import { orNull } from "./survey.ts";

const Member = v.object({
  name: v.string(),
  service: v.string(),
  /** `target`: a container of the target itself; `dependant`: one that depends on those and is recreated with them. */
  role: v.picklist(["target", "dependant"]),
  container: ContainerInspect,
  image: ImageInspect,
  /** Mount destinations that come from other containers' volumes. */
  inherited: v.array(v.string()),
  /** Files in the container outside of mounts, as a tar in base64; null if there are none. */
  files: v.nullable(v.string()),
});
export type SnapshotMember = v.InferOutput<typeof Member>;

/** Everything that the engine reports about the containers of a target and their images. Contains secrets: the caller encrypts it. */
const Snapshot = v.object({
  format: v.literal(2),
  kind: v.picklist(["container", "compose"]),
  name: v.string(),
  api_version: v.string(),
  /** In dependency order. */
  members: v.pipe(v.array(Member), v.minLength(1)),
});
export type Snapshot = v.InferOutput<typeof Snapshot>;

/** The form from when every target was a single container. */
const FirstFormat = v.object({
  format: v.literal(1),
  name: v.string(),
  api_version: v.string(),
  container: ContainerInspect,
  image: ImageInspect,
  inherited: v.array(v.string()),
});

const AnyFormat = v.variant("format", [Snapshot, FirstFormat]);

export interface Captured {
  scene: Scene;
  service: string;
  role: SnapshotMember["role"];
  files: string | null;
}

export function writeSnapshot(ref: TargetRef, apiVersion: string, captured: readonly Captured[]): string {
  const snapshot: Snapshot = {
    format: 2,
    kind: ref.kind === "compose" ? "compose" : "container",
    name: ref.id,
    api_version: apiVersion,
    members: captured.map(({ scene, service, role, files }) => {
      const name = nameOf(scene.container);
      if (scene.image === null) {
        throw new PluginError("rejected", say("restoring.image_not_saved", { name }));
      }
      const { container, image } = scene;
      return { name, service, role, container, image, inherited: [...(scene.inherited ?? [])], files };
    }),
  };
  return JSON.stringify(snapshot);
}

export function readSnapshot(text: string): Snapshot {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new PluginError("malformed", say("restoring.not_json"), { cause: error });
  }
  const parsed = v.safeParse(AnyFormat, value);
  if (!parsed.success) {
    const format = objectAt(value).format;
    const isKnown = format === 1 || format === 2;
    const message = isKnown
      ? say("restoring.unreadable", { reason: parsed.issues[0].message })
      : say("restoring.other_format");
    throw new PluginError("malformed", message);
  }
  const found = parsed.output;
  if (found.format === 2) return found;
  const { name, api_version, container, image, inherited } = found;
  const member = { name, service: mainService, role: "target" as const, container, image, inherited, files: null };
  return { format: 2, kind: "container", name, api_version, members: [member] };
}

/** The image to pull if the engine no longer has it: by the digest it was pulled with; null if it never was. */
export function snapshotDigest(snapshot: SnapshotMember): string | null {
  const { repository } = splitReference(stringAt(snapshot.container.Config.Image));
  const digest = digestFor(snapshot.image.RepoDigests ?? [], repository);
  return digest === null ? (snapshot.image.RepoDigests?.[0] ?? null) : `${repository}@${digest}`;
}

/** The old and new image are the same, so that every default stays. */
export function snapshotBlueprint(snapshot: SnapshotMember, apiVersion: string): Blueprint {
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
 * Whether a restored container is to run: it ran when it was captured, or the one it replaces runs now. A rollback starts
 * what is down, and never stops what serves: the snapshot of a crashed container must not stop its successor.
 */
export function isToRun(snapshot: SnapshotMember, present: ContainerInspect | null): boolean {
  return isRunning(snapshot.container) || (present !== null && isRunning(present));
}

/** Restores the snapshot's image, by ID or digest, and its tag. */
export async function fetchSnapshotImage(
  client: EngineClient,
  snapshot: SnapshotMember,
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
    throw new PluginError("rejected", say("engine.snapshot_image_differs", { reference: digest ?? reference }));
  }
  const isById = /^sha256:[0-9a-f]{64}$/.test(reference);
  if (!isById) await tagAsReferenced(client, { reference }, image);
  return image;
}

export function imageGone(reference: string): Refusal {
  return {
    code: "image_gone",
    message: say("restoring.image_gone", { reference }),
  };
}
