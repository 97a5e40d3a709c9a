import * as v from "valibot";
import { plain } from "../../messages/message.ts";
import { MessageSchema } from "../../messages/schema.ts";

// Only members that we read are described; `looseObject` keeps all others unchanged.
const Raw = v.record(v.string(), v.unknown());
const RawOrNull = v.nullish(Raw);

/** Snapshots from before sentences were data have theirs in English. */
const Notice = v.object({
  code: v.string(),
  message: v.union([v.pipe(v.string(), v.transform(plain)), MessageSchema]),
});

export const ContainerInspect = v.looseObject({
  Id: v.string(),
  Name: v.string(),
  Image: v.string(),
  RestartCount: v.nullish(v.number()),
  State: v.looseObject({
    Status: v.nullish(v.string()),
    Running: v.nullish(v.boolean()),
    Paused: v.nullish(v.boolean()),
    Restarting: v.nullish(v.boolean()),
    OOMKilled: v.nullish(v.boolean()),
    Dead: v.nullish(v.boolean()),
    /** It has ended, but the engine has not cleaned up yet: its ports are still taken. */
    Releasing: v.nullish(v.boolean()),
    ExitCode: v.nullish(v.number()),
    Error: v.nullish(v.string()),
    StartedAt: v.nullish(v.string()),
    Health: v.nullish(v.looseObject({ Status: v.nullish(v.string()), Log: v.nullish(v.array(v.unknown())) })),
  }),
  Config: Raw,
  HostConfig: Raw,
  NetworkSettings: v.nullish(v.looseObject({ Networks: v.nullish(v.record(v.string(), RawOrNull)) })),
  Mounts: v.nullish(v.array(Raw)),
  /** What the flavour's reader found that cannot be carried, and what it cannot read. */
  Refusals: v.nullish(v.array(Notice)),
  Warnings: v.nullish(v.array(Notice)),
});
export type ContainerInspect = v.InferOutput<typeof ContainerInspect>;

export const ContainerSummary = v.looseObject({
  Id: v.string(),
  Names: v.nullish(v.array(v.string())),
  Labels: v.nullish(v.record(v.string(), v.string())),
  State: v.nullish(v.string()),
  ImageID: v.nullish(v.string()),
});
export type ContainerSummary = v.InferOutput<typeof ContainerSummary>;

export const ImageInspect = v.looseObject({
  Id: v.string(),
  RepoTags: v.nullish(v.array(v.string())),
  RepoDigests: v.nullish(v.array(v.string())),
  Os: v.nullish(v.string()),
  Architecture: v.nullish(v.string()),
  Variant: v.nullish(v.string()),
  Config: RawOrNull,
});
export type ImageInspect = v.InferOutput<typeof ImageInspect>;

export const ImageSummary = v.looseObject({
  Id: v.string(),
  RepoTags: v.nullish(v.array(v.string())),
  RepoDigests: v.nullish(v.array(v.string())),
  /** Seconds. */
  Created: v.nullish(v.number()),
  Size: v.nullish(v.number()),
});
export type ImageSummary = v.InferOutput<typeof ImageSummary>;

export const EngineVersion = v.looseObject({
  Version: v.string(),
  ApiVersion: v.string(),
  MinAPIVersion: v.nullish(v.string()),
  Os: v.nullish(v.string()),
  Arch: v.nullish(v.string()),
  Components: v.nullish(v.array(Raw)),
});
export type EngineVersion = v.InferOutput<typeof EngineVersion>;

/** One path of a container's own layer; of whatever kind it is. */
export const FileChange = v.object({ Path: v.string(), Kind: v.number() });
export type FileChange = v.InferOutput<typeof FileChange>;

/** `mode` has the type in its high bits, as Go writes it: none of them is a regular file. */
export const PathStat = v.object({ size: v.number(), mode: v.number(), mtime: v.string() });
export type PathStat = v.InferOutput<typeof PathStat>;

export const Created = v.looseObject({ Id: v.string(), Warnings: v.nullish(v.array(v.string())) });

/** `linux/amd64`, `linux/arm/v7`. */
export function platformOf(image: Pick<ImageInspect, "Os" | "Architecture" | "Variant">): string {
  return [image.Os ?? "", image.Architecture ?? "", image.Variant ?? ""].filter((part) => part !== "").join("/");
}

/** The engine writes names with a leading slash. */
export function nameOf(container: Pick<ContainerInspect, "Name">): string {
  return container.Name.replace(/^\//, "");
}

/**
 * Whether a text is a prefix of an ID. An engine accepts any unique prefix and keeps it as typed; with
 * four digits and more, another ID hardly ever has the same prefix.
 */
export function isIdPrefix(text: string, id: string): boolean {
  return /^[0-9a-f]{4,64}$/.test(text) && id.startsWith(text);
}

/** Serving, or being restarted by its policy: an update must leave it running. */
export function isRunning(container: ContainerInspect): boolean {
  return container.State.Running === true || container.State.Restarting === true;
}
