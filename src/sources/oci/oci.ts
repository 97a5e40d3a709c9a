import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { RecentMap } from "../../recent-map.ts";
import { DOCKER_HUB, formatImageReference, parseImageReference } from "../../versions/image-reference.ts";
import { parseConfig, parseSecret } from "../failure.ts";
import type { OpenSource, Source } from "../source.ts";
import { type AccessCache, accessCache } from "./access-cache.ts";
import { listReleases } from "./listing.ts";
import { isDigest, manifestReader } from "./manifest.ts";
import { registrySession } from "./registry-session.ts";
import { isTag, parseRepository, type Repository, tagPage } from "./repository.ts";
import { OciConfig, OciSecret } from "./schema.ts";
import { listTags } from "./tag-list.ts";

interface ParsedConfig {
  repository: Repository;
  mode: OciConfig["published_at_mode"];
}

/** Parsed configurations: they are the same at every check. */
const maxParsed = 2_000;
const parsedConfigs = new RecentMap<string, ParsedConfig>(maxParsed);

function readConfig(input: unknown): ParsedConfig {
  const text = JSON.stringify(input) ?? "";
  const known = parsedConfigs.get(text);
  if (known !== undefined) return known;
  const config = parseConfig(OciConfig, input);
  const parsed = { repository: parseRepository(config.image, config.registry), mode: config.published_at_mode };
  parsedConfigs.set(text, parsed);
  return parsed;
}

// On Docker Hub, reading a config counts as a pull of the IP address (100 in six hours); elsewhere it is free.
function readsBuildTimes(mode: OciConfig["published_at_mode"], { registry }: Repository): boolean {
  return mode === "build_time" || (mode === "auto" && registry !== DOCKER_HUB);
}

/** Null if the registry does not have it; other errors are thrown. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PluginError && error.code === "not_found") return null;
    throw error;
  }
}

/** An image reference does not tell how to reach its registry. */
function configFor(image: string, isPlain: boolean): OciConfig {
  const { registry, repository } = parseImageReference(image);
  const name = formatImageReference({ scheme: "https", registry, repository });
  return parseConfig(OciConfig, { image: isPlain ? `http://${name}` : name });
}

function openOci(config: unknown, secret: unknown, context: PluginContext, cache: AccessCache): OpenSource {
  const { repository, mode } = readConfig(config);
  const credential = parseSecret(OciSecret, secret, say("sources.credential_without_login"));
  const session = registrySession(repository, credential, context, cache);
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
        const values = { reference: tagOrDigest.slice(0, 200), name: imageName };
        throw new PluginError("rejected", say("sources.not_tag_or_digest", values));
      }
      const top = await orNull(reader.readManifest(tagOrDigest));
      const image = top === null ? null : await reader.readImage(top, platform);
      if (top === null || image === null) return null;
      return { digest: top.digest, created_at: image.created_at, config: image.config, size: image.size };
    },
  };
}

/**
 * Container registries by the OCI distribution API. All sessions share what is known of each registry's sign-in, and the tokens, in a
 * bounded cache.
 */
export function ociSource(cache: AccessCache = accessCache()): Source<"oci"> {
  return {
    kind: "oci",
    title: "Container registry",
    Config: OciConfig,
    open: (config, secret, context) => openOci(config, secret, context, cache),
    configFor,
    isPlain: (config) => readConfig(config).repository.origin.startsWith("http:"),
    host: (config) => new URL(readConfig(config).repository.origin).host,
    pages: (config) => {
      const { repository } = readConfig(config);
      return { version: ({ tag }) => tagPage(repository, tag) };
    },
    // The list of tags, and the digest of each channel's current one. Neither counts as a pull.
    checks_per_host: 4,
    cost: (_config, { channel_count }) => ({ requests: 1 + channel_count, quota: 0, hourly_limit: null }),
  };
}

export const oci = ociSource();
