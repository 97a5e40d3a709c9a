import type { Database } from "../db/client.ts";
import { notFound } from "../errors.ts";
import { parseImageReference } from "../versions/image-reference.ts";
import { findTracker } from "./queries.ts";
import { findSource, type SourceRow, sourcesAtHost } from "./source-queries.ts";
import { addressOf, imageNameOf, openSource, type SourceAddress, type SourceOpener } from "./source-session.ts";

/** For one request that a plan makes. */
const planTimeoutMs = 15_000;

/** What an image is asked about through: a source that watches it, by its id, or the image's own registry. */
type ImagePlace = { source_id: string } | { image: string };

/** What executors ask about images: the one that a source watches, and those that run. */
export function imageReads(options: SourceOpener & { db: Database }) {
  const { db, registry } = options;

  const sourceAddress = async (id: string): Promise<SourceAddress & { timeout_ms: number }> => {
    const row = await findSource(db.read, id);
    const tracker = row === null ? null : await findTracker(db.read, row.tracker_id);
    if (row === null || tracker === null) throw notFound("source", id);
    const timeout_ms = Math.min(tracker.request_timeout_seconds * 1000, planTimeoutMs);
    return { ...addressOf(registry, row), timeout_ms };
  };
  const nameOf = (row: SourceRow) => imageNameOf(options, { kind: "oci", config: row.config ?? {} }) ?? "";
  /** As the source asks that watches this image, else as one does that watches another at the same registry. */
  const registryAddress = async (image: string): Promise<SourceAddress> => {
    const plugin = registry.oci;
    if (plugin.configFor === undefined) throw new Error("No kind of source asks registries");
    const rows = await sourcesAtHost(db.read, "oci", plugin.host(plugin.configFor(image, null)));
    const wanted = parseImageReference(image);
    const ownerOf = (repository: string) => repository.slice(0, repository.lastIndexOf("/") + 1);
    const likeness = (row: SourceRow) => {
      const { repository } = parseImageReference(nameOf(row));
      if (repository === wanted.repository) return 3;
      return Number(ownerOf(repository) === ownerOf(wanted.repository)) * 2 + Number(row.credential_id !== null);
    };
    const [nearest] = rows.toSorted((a, b) => likeness(b) - likeness(a));
    const neighbour = nearest ?? { config: null, credential_id: null };
    const config = plugin.configFor(image, neighbour.config);
    return { kind: "oci", config: { ...Object(config) }, credential_id: neighbour.credential_id };
  };
  const open = async (place: ImagePlace) => {
    const { timeout_ms, ...address } =
      "image" in place
        ? { ...(await registryAddress(place.image)), timeout_ms: planTimeoutMs }
        : await sourceAddress(place.source_id);
    const { source } = await openSource(options, address, { timeout_ms, signal: new AbortController().signal });
    return source;
  };

  return {
    /** The image reference without a tag that policy "use tracker image" takes; null for a kind that has none. */
    imageFor: async (sourceId: string): Promise<string | null> => imageNameOf(options, await sourceAddress(sourceId)),

    /** The credential of a registry source with which an image is asked about and pulled; null where it takes none. */
    credentialFor: async (image: string): Promise<string | null> => (await registryAddress(image)).credential_id,

    /** Asks the registry of an image for the digest behind a tag; null when there is no such tag. Throws PluginError. */
    findDigest: async (image: string, tag: string): Promise<string | null> =>
      (await (await open({ image })).findDigest?.(tag)) ?? null,

    /** Asks upstream for an image's defaults, so that a plan needs no pull; null when there are none. Throws PluginError. */
    readImageConfig: async (
      place: ImagePlace,
      tagOrDigest: string,
      platform: string,
    ): Promise<Readonly<Record<string, unknown>> | null> =>
      (await (await open(place)).readImageConfig?.(tagOrDigest, platform))?.config ?? null,
  };
}
