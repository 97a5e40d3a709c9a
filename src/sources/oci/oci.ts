import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import type { PluginContext } from "../../plugin.ts";
import { RecentMap } from "../../recent-map.ts";
import { DOCKER_HUB, formatImageReference, parseImageReference } from "../../versions/image-reference.ts";
import type { OpenSource, Source } from "../source.ts";
import { type AccessCache, accessCache } from "./access-cache.ts";
import { listReleases } from "./listing.ts";
import { isDigest, manifestReader } from "./manifest.ts";
import { registrySession } from "./registry-session.ts";
import { isTag, parseRepository, type Repository } from "./repository.ts";
import { OciConfig, OciSecret } from "./schema.ts";
import { listTags } from "./tag-list.ts";

function parseWith<S extends v.GenericSchema>(schema: S, what: string, input: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, input);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new PluginError(
    "rejected",
    `The ${what} has an error in "${v.getDotPath(issue) ?? "itself"}": ${issue.message}`,
  );
}

interface ParsedConfig {
  repository: Repository;
  mode: OciConfig["published_at_mode"];
}

/** Configurations whose meaning is remembered: they are the same at every check. */
const maxParsed = 2_000;
const parsedConfigs = new RecentMap<string, ParsedConfig>(maxParsed);

function parseConfig(input: unknown): ParsedConfig {
  const text = JSON.stringify(input) ?? "";
  const known = parsedConfigs.get(text);
  if (known !== undefined) return known;
  const config = parseWith(OciConfig, "source", input);
  const parsed = { repository: parseRepository(config.image, config.registry), mode: config.published_at_mode };
  parsedConfigs.set(text, parsed);
  return parsed;
}

// Reading a config on Docker Hub counts against the pulls of the whole address (100 in six hours); elsewhere it is free.
function readsBuildTimes(mode: OciConfig["published_at_mode"], { registry }: Repository): boolean {
  return mode === "build_time" || (mode === "auto" && registry !== DOCKER_HUB);
}

/** What the registry does not have is null; every other fault stays one. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PluginError && error.code === "not_found") return null;
    throw error;
  }
}

/** An image reference says nothing of how its registry is reached. */
function configFor(image: string, isPlain: boolean): OciConfig {
  const { registry, repository } = parseImageReference(image);
  const name = formatImageReference({ scheme: "https", registry, repository });
  return parseWith(OciConfig, "image", { image: isPlain ? `http://${name}` : name });
}

function openOci(config: unknown, secret: unknown, context: PluginContext, cache: AccessCache): OpenSource {
  const { repository, mode } = parseConfig(config);
  // Never the issue's own text: it would quote the secret.
  if (secret !== null && !v.is(OciSecret, secret)) {
    throw new PluginError("rejected", 'The credential has no "username" and "password"');
  }
  const session = registrySession(repository, secret, context, cache);
  const reader = manifestReader(repository, session);
  const parts = { repository, context, reader, readsBuildTimes: readsBuildTimes(mode, repository) };
  const imageName = `${repository.registry}/${repository.name}`;
  return {
    imageName,
    async listReleases(request) {
      return await listReleases(parts, request, await listTags(repository, session));
    },
    async listNames() {
      return await listTags(repository, session);
    },
    async findDigest(tag) {
      if (!isTag(tag)) return null;
      return await orNull(reader.findDigest(tag));
    },
    async readImageConfig(tagOrDigest, platform) {
      if (!isTag(tagOrDigest) && !isDigest(tagOrDigest)) {
        throw new PluginError(
          "rejected",
          `"${tagOrDigest.slice(0, 200)}" is neither a tag nor a digest of "${imageName}"`,
        );
      }
      const top = await orNull(reader.readManifest(tagOrDigest));
      const image = top === null ? null : await reader.readImage(top, platform);
      if (top === null || image === null) return null;
      return { digest: top.digest, created_at: image.created_at, config: image.config };
    },
  };
}

/**
 * Container registries by the OCI distribution API. Sessions opened from one source share what they learnt of each registry's
 * sign-in, and the tokens, in a bounded memory.
 */
export function ociSource(cache: AccessCache = accessCache()): Source<"oci"> {
  return {
    kind: "oci",
    title: "Container registry",
    Config: OciConfig,
    open: (config, secret, context) => openOci(config, secret, context, cache),
    configFor,
    isPlain: (config) => parseConfig(config).repository.origin.startsWith("http:"),
    host: (config) => new URL(parseConfig(config).repository.origin).host,
    // The list of tags and the digest of each channel's current one. Registries limit pulls, and these are none.
    checks_per_host: 4,
    cost: (_config, { channel_count }) => ({ requests: 1 + channel_count, quota: 0, hourly_limit: null }),
  };
}

export const oci = ociSource();
