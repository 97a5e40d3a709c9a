import type { Database } from "../../db/client.ts";
import { notFound, PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { RecentMap } from "../../recent-map.ts";
import type { ImageConfig, OpenSource } from "../../sources/source.ts";
import { ImageReferenceError, parseImageReference } from "../../versions/image-reference.ts";
import { trackerRows } from "../queries.ts";
import { recordSize } from "../releases/queries.ts";
import type { SourceRegistry } from "../schema.ts";
import { type SourceRow, sourceRows, sourcesAtHosts } from "../source-queries.ts";
import {
  addressOf,
  chartNameOf,
  imageNameOf,
  openSource,
  type SourceAddress,
  type SourceOpener,
} from "./source-session.ts";

/** For one request of a plan. */
const planTimeoutMs = 15_000;

/** For a chart's archive. */
const chartTimeoutMs = 60_000;
/** Archives that are kept: a plan is made several times before it is performed. */
const maxKept = 8;
/** Defaults of images that are kept, by digest: many executors follow one image, and each plan is made again before its run. */
const maxKeptImages = 200;
const maxKeptBytes = 2 * 1024 * 1024;

/** A registry login, under the id of its credential. */
interface RegistryLogin {
  credential_id: string;
  username: string;
  password: string;
}

/** How to reach an image's registry; over https unless configured for plain http. */
interface RegistryAccess {
  login: RegistryLogin | null;
  is_plain: boolean | null;
}

/** How to ask about an image: through a source that watches it, by its id, or its own registry. */
type ImagePlace = { source_id: string } | { image: string; access: RegistryAccess };

/** The source kind for registries. */
function registryPlugin({ oci }: SourceRegistry) {
  const { configFor, isPlain } = oci;
  if (configFor === undefined || isPlain === undefined) throw new Error("No kind of source asks registries");
  return { host: oci.host, configFor, isPlain };
}

/** Null for an image, running or stored, whose name no source takes. */
function unlessRefused<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof ImageReferenceError || (error instanceof PluginError && error.code === "rejected"))
      return null;
    throw error;
  }
}

/** Answers executors' questions about images and charts: those that a source watches, and images that run. */
export function imageLookup(options: SourceOpener & { db: Database }) {
  const { db, registry } = options;
  const charts = new RecentMap<string, Uint8Array>(maxKept);
  const images = new RecentMap<string, Promise<ImageConfig | null>>(maxKeptImages);

  const sourceAddress = async (id: string): Promise<SourceAddress & { timeout_ms: number }> => {
    const row = await sourceRows.find(db.read, id);
    const tracker = row === null ? null : await trackerRows.find(db.read, row.tracker_id);
    if (row === null || tracker === null) throw notFound("source", id);
    const timeout_ms = Math.min(tracker.request_timeout_seconds * 1000, planTimeoutMs);
    return { ...addressOf(registry, row), timeout_ms };
  };
  const nameOf = (row: SourceRow) => imageNameOf(options, { kind: "oci", config: row.config ?? {} }) ?? "";
  /** The source that watches this image, else one that watches another image of the same registry; null without one. */
  const nearestSource = async (image: string): Promise<SourceRow | null> => {
    const oci = registryPlugin(registry);
    const hostOf = (is_plain: boolean) => oci.host(oci.configFor(image, is_plain));
    const hosts = unlessRefused(() => [hostOf(false), hostOf(true)]);
    if (hosts === null) return null;
    const rows = await sourcesAtHosts(db.read, "oci", hosts);
    const wanted = parseImageReference(image);
    const ownerOf = (repository: string) => repository.slice(0, repository.lastIndexOf("/") + 1);
    const likeness = (row: SourceRow) => {
      const { repository } = parseImageReference(nameOf(row));
      if (repository === wanted.repository) return 3;
      return Number(ownerOf(repository) === ownerOf(wanted.repository)) * 2 + Number(row.credential_id !== null);
    };
    // The scheme's default port is in no address: only the scheme tells which one is meant.
    const same = rows.filter((row) => row.host === unlessRefused(() => hostOf(oci.isPlain(row.config))));
    return same.toSorted((a, b) => likeness(b) - likeness(a))[0] ?? null;
  };
  const openRegistry = async (image: string, { login, is_plain }: RegistryAccess): Promise<OpenSource> => {
    const config = { ...Object(registryPlugin(registry).configFor(image, is_plain ?? false)) };
    const secret = login === null ? null : { username: login.username, password: login.password };
    const address = { kind: "oci", config, credential_id: login?.credential_id ?? null } as const;
    const limits = { timeout_ms: planTimeoutMs, signal: new AbortController().signal };
    const { source } = await openSource(options, address, { ...limits, secret });
    return source;
  };
  const open = async (place: ImagePlace): Promise<OpenSource> => {
    if ("image" in place) return await openRegistry(place.image, place.access);
    const { timeout_ms, ...address } = await sourceAddress(place.source_id);
    const { source } = await openSource(options, address, { timeout_ms, signal: new AbortController().signal });
    return source;
  };

  const readImage = async (place: ImagePlace, tagOrDigest: string, platform: string): Promise<ImageConfig | null> => {
    const image = (await (await open(place)).readImageConfig?.(tagOrDigest, platform)) ?? null;
    const size = image?.size ?? null;
    // Checks that read only digests, as on Docker Hub, find no size.
    if ("source_id" in place && size !== null) {
      await db.write((tx) => recordSize(tx, place.source_id, tagOrDigest, size));
    }
    return image;
  };
  /** A digest always means the same image. */
  const readDigest = async (place: ImagePlace, digest: string, platform: string): Promise<ImageConfig | null> => {
    const key = JSON.stringify(["source_id" in place ? place.source_id : place.image, digest, platform]);
    const reading = images.get(key) ?? readImage(place, digest, platform);
    images.set(key, reading);
    let found: ImageConfig | null = null;
    try {
      found = await reading;
      return found;
    } finally {
      if (found === null && images.get(key) === reading) images.delete(key);
    }
  };

  return {
    /** The image reference without a tag, for policy "use tracker image"; null for a kind that has none. */
    imageFor: async (sourceId: string): Promise<string | null> => imageNameOf(options, await sourceAddress(sourceId)),

    /** How the nearest source for an image's registry connects; null when no source watches that registry. */
    sourceAt: async (image: string): Promise<{ credential_id: string | null; is_plain: boolean } | null> => {
      const nearest = await nearestSource(image);
      if (nearest === null) return null;
      return { credential_id: nearest.credential_id, is_plain: registryPlugin(registry).isPlain(nearest.config) };
    },

    /** Asks the image's registry for the digest behind a tag; null when the tag does not exist. Throws PluginError. */
    findDigest: async (image: string, tag: string, access: RegistryAccess): Promise<string | null> =>
      (await (await open({ image, access })).findDigest?.(tag)) ?? null,

    /** Asks upstream for an image's defaults, so that a plan needs no pull; null when there are none. Throws PluginError. */
    readImageConfig: async (
      place: ImagePlace,
      tagOrDigest: string,
      platform: string,
    ): Promise<Readonly<Record<string, unknown>> | null> => {
      const image = await (tagOrDigest.includes(":") ? readDigest : readImage)(place, tagOrDigest, platform);
      return image?.config ?? null;
    },

    /** The chart that a source releases; null for a kind that has none. */
    chartFor: async (sourceId: string): Promise<string | null> => chartNameOf(options, await sourceAddress(sourceId)),

    /** Downloads a chart's version from the source that watches it; the last ones are kept. Throws PluginError. */
    readChart: async (
      sourceId: string,
      { version, digest }: { version: string; digest: string | null },
    ): Promise<Uint8Array> => {
      const { timeout_ms: _, ...address } = await sourceAddress(sourceId);
      const key = JSON.stringify([sourceId, address.config, version, digest]);
      const kept = charts.get(key);
      if (kept !== undefined) return kept;
      const limits = { timeout_ms: chartTimeoutMs, signal: new AbortController().signal };
      const { source } = await openSource(options, address, limits);
      if (source.readChart === undefined) {
        throw new PluginError("rejected", say("charts.no_charts", { kind: address.kind }));
      }
      const archive = await source.readChart(version, digest);
      // Without a digest, another archive may come under the same version.
      if (digest !== null && archive.byteLength <= maxKeptBytes) charts.set(key, archive);
      return archive;
    },
  };
}
