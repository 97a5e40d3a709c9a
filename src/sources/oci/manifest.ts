import { createHash } from "node:crypto";
import * as v from "valibot";
import { parseInstant } from "../../clock.ts";
import { issue, type Message, say } from "../../messages/message.ts";
import { type Platform, platformName } from "../../versions/platform.ts";
import { failure } from "../failure.ts";
import type { ImageSize } from "../source.ts";
import { readJson, refusal } from "./answer.ts";
import { type ImageLabels, mergedLabels, readLabels, unlabelled } from "./image-labels.ts";
import { choosePlatform } from "./platform.ts";
import type { RegistrySession } from "./registry-session.ts";
import type { Repository } from "./repository.ts";

/** All forms that we read; without them, old registries return a form with another digest. */
export const manifestTypes = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/** Images were first built in 2013: an earlier `created` is a placeholder of a reproducible build. */
const earliestBuild = parseInstant("2000-01-01T00:00:00Z") ?? 0;

const Digest = v.pipe(
  v.string(),
  v.regex(/^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/, issue("sources.no_sha_digest")),
);
const Entry = v.object({
  digest: Digest,
  platform: v.optional(
    v.nullable(
      v.object({
        os: v.optional(v.string(), ""),
        architecture: v.optional(v.string(), ""),
        variant: v.optional(v.string(), ""),
      }),
    ),
  ),
  annotations: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
});
/** Of a blob in bytes; null for what is no count. */
const Size = v.fallback(v.nullish(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), null), null);
// An index has manifests, an image has a config; other documents (schema 1, artifacts) have no build time.
const Manifest = v.object({
  manifests: v.optional(v.nullable(v.array(Entry))),
  config: v.optional(v.nullable(v.object({ digest: Digest, size: Size }))),
  layers: v.fallback(v.optional(v.nullable(v.array(v.object({ size: Size })))), null),
  annotations: v.optional(v.unknown()),
});
const Config = v.object({
  created: v.optional(v.nullable(v.string())),
  os: v.fallback(v.optional(v.string(), ""), ""),
  architecture: v.fallback(v.optional(v.string(), ""), ""),
  variant: v.fallback(v.optional(v.string(), ""), ""),
  config: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
});

/** A document with the digest of its bytes. */
interface Document {
  digest: string;
  body: string;
  response: Response;
}

/** An index of images, or one image with its config. */
export interface TopManifest {
  reference: string;
  digest: string;
  /** The images of an index, without attestations; null for a single image. */
  images: readonly ImageEntry[] | null;
  config_digest: string | null;
  /** Of a single image: its layers and its config, compressed; null if a size is missing. */
  size_bytes: number | null;
  /** From its annotations. */
  labels: ImageLabels;
}

export interface BuiltImage extends ImageLabels {
  created_at: number | null;
  config: Readonly<Record<string, unknown>>;
  size: ImageSize | null;
}

export interface ManifestReader {
  /** The digest of a tag by one `HEAD`, or by a `GET` if the registry does not report it. */
  findDigest(tag: string): Promise<string>;
  readManifest(tagOrDigest: string): Promise<TopManifest>;
  /** Build time, labels and defaults of the image for a platform (null: linux/amd64, or the first one); null if it has none. */
  readImage(top: TopManifest, platform: string | null): Promise<BuiltImage | null>;
}

type ImageEntry = Platform & { digest: string; labels: ImageLabels };

function sha(bytes: Uint8Array, algorithm: "sha256" | "sha512"): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest("hex")}`;
}

/** Null if one of the sizes is missing, or their sum is no count. */
function sumOf(blobs: readonly { size: number | null }[]): number | null {
  let sum = 0;
  for (const { size } of blobs) {
    if (size === null) return null;
    sum += size;
  }
  return Number.isSafeInteger(sum) ? sum : null;
}

/** The images of an index. Attestations are marked by their platform, their annotation, or both. */
function imageEntries(entries: readonly v.InferOutput<typeof Entry>[]): readonly ImageEntry[] {
  return entries
    .filter((entry) => entry.annotations?.["vnd.docker.reference.type"] === undefined)
    .map(({ digest, platform, annotations }) => ({
      digest,
      labels: readLabels(annotations),
      os: platform?.os ?? "",
      architecture: platform?.architecture ?? "",
      variant: platform?.variant ?? "",
    }))
    .filter((entry) => entry.os !== "unknown" && entry.architecture !== "unknown");
}

/** `created` of a config in milliseconds UTC; null for placeholders. */
export function readCreated(created: string | null | undefined): number | null {
  const instant = parseInstant(created ?? "");
  return instant === null || instant < earliestBuild ? null : instant;
}

/** Reads manifests and config blobs of one repository, and verifies the digest of what is requested by digest. */
export function manifestReader(repository: Repository, session: RegistrySession): ManifestReader {
  const imageName = `${repository.registry}/${repository.name}`;
  const base = `${repository.origin}/v2/${repository.name}`;
  const nameOf = (reference: string) => `${imageName}${reference.includes(":") ? "@" : ":"}${reference}`;

  const get = async (path: string, accept: string, action: Message, expected: string | null): Promise<Document> => {
    // Each document is requested only once, so storing it for conditional requests is of no use.
    const url = new URL(`${base}${path}`);
    const response = await session.send({ method: "GET", url, accept, action, cache: "no-store" });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const body = new TextDecoder().decode(bytes);
    if (!response.ok) throw refusal(response, body, action, session.explain);
    if (expected === null) {
      const told = v.safeParse(Digest, response.headers.get("docker-content-digest"));
      return { digest: told.success ? told.output : sha(bytes, "sha256"), body, response };
    }
    const computed = sha(bytes, expected.startsWith("sha512:") ? "sha512" : "sha256");
    if (computed !== expected) {
      throw failure("malformed", action, say("sources.digest_mismatch", { digest: computed, wanted: expected }));
    }
    return { digest: computed, body, response };
  };
  const readManifest = async (reference: string): Promise<TopManifest> => {
    const action = say("sources.read_manifest", { name: nameOf(reference) });
    const expected = isDigest(reference) ? reference : null;
    const { digest, body, response } = await get(`/manifests/${reference}`, manifestTypes, action, expected);
    const { manifests, config, layers, annotations } = readJson(Manifest, response, body, action);
    return {
      reference,
      digest,
      images: manifests ? imageEntries(manifests) : null,
      config_digest: config?.digest ?? null,
      size_bytes: layers && config ? sumOf([config, ...layers]) : null,
      labels: readLabels(annotations),
    };
  };
  return {
    readManifest,
    async findDigest(tag) {
      const action = say("sources.read_digest", { name: nameOf(tag) });
      const url = new URL(`${base}/manifests/${tag}`);
      const response = await session.send({ method: "HEAD", url, accept: manifestTypes, action });
      const told = v.safeParse(Digest, response.headers.get("docker-content-digest"));
      if (response.ok && told.success) return told.output;
      // 405: a registry without HEAD. For other refusals, a GET would cost a pull and fail in the same way.
      if (response.ok || response.status === 405) return (await readManifest(tag)).digest;
      throw refusal(response, "", action, session.explain);
    },
    async readImage(top, platform) {
      const entry = top.images === null ? null : choosePlatform(top.images, platform);
      if (top.images !== null && entry === null) return null;
      const { config_digest, labels, size_bytes } = entry === null ? top : await readManifest(entry.digest);
      // Annotations are about this image; labels in its config may come from the base image.
      const said = mergedLabels(labels, entry?.labels ?? unlabelled, top.labels);
      if (config_digest === null) return { created_at: null, config: {}, size: null, ...said };
      const action = say("sources.read_image_config", { name: nameOf(top.reference) });
      const blob = await get(`/blobs/${config_digest}`, "*/*", action, config_digest);
      const { created, config, ...built } = readJson(Config, blob.response, blob.body, action);
      const created_at = readCreated(created);
      const name = platformName(entry ?? built);
      const size = size_bytes === null || name === null ? null : { bytes: size_bytes, platform: name };
      return { created_at, config: config ?? {}, size, ...mergedLabels(said, readLabels(config?.Labels)) };
    },
  };
}

/** True for a tag or a digest: nothing else may be part of a path. */
export function isDigest(text: string): boolean {
  return v.is(Digest, text);
}
