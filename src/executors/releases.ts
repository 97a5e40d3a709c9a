import type { KnownHistory, KnownVersion } from "../versions/behind.ts";

/** A release that an executor may update to. */
export interface DesiredRelease {
  version: string;
  tag: string;
  /** The digest behind the tag; null until resolved. */
  digest: string | null;
  /** For a chart: the version of its application, which its images are tagged with. */
  app_version?: string | null;
  published_at: number | null;
}

export interface ReleaseChoice {
  /** The channel's latest that is old enough; null if there is none. */
  release: DesiredRelease | null;
  /** When a newer release reaches the minimum age; null if none is waiting for that. */
  ready_at: number | null;
}

/** The stored versions of a channel under the tags of their source. */
export interface ChannelHistory extends KnownHistory {
  versions: readonly (KnownVersion & {
    app_version?: string | null;
    /** For an image whose manifest was read: compressed, on this platform. */
    size_bytes?: number | null;
    size_platform?: string | null;
  })[];
}

/** A registry login, with the ID of its credential. */
export interface RegistryLogin {
  credential_id: string;
  username: string;
  password: string;
}

/** How to access the registry of an image. */
export interface RegistryAccess {
  login: RegistryLogin | null;
  /** Null if unknown: then over HTTPS. */
  is_plain: boolean | null;
}

/** Where to ask about an image: through a source that watches it, by its ID, or at the image's own registry. */
export type ImagePlace = { source_id: string } | { image: string; access: RegistryAccess };

/** What executors need from trackers. */
export interface TrackerReleases {
  desiredRelease(sourceId: string, channel: string, options: { minimum_age_ms: number }): Promise<ReleaseChoice>;
  knownVersions(sourceId: string, channel: string): Promise<ChannelHistory>;
  /** The image that a source watches, without a tag; null if it watches none. */
  imageFor(sourceId: string): Promise<string | null>;
  /** How the nearest source at an image's registry accesses it; null if no source watches that registry. */
  sourceAt(image: string): Promise<{ credential_id: string | null; is_plain: boolean } | null>;
  /** The digest of a tag, from the image's registry; null if there is no such tag. May throw `PluginError`. */
  findDigest(image: string, tag: string, access: RegistryAccess): Promise<string | null>;
  /** The chart that a source releases; null if it releases none. */
  chartFor(sourceId: string): Promise<string | null>;
  /** The archive of a chart's version with the digest that it was announced with, from its source. May throw `PluginError`. */
  readChart(sourceId: string, chart: Pick<DesiredRelease, "version" | "digest">): Promise<Uint8Array>;
  /** The defaults of an image for a platform, from its registry; null if it has none. May throw `PluginError`. */
  readImageConfig(
    place: ImagePlace,
    tagOrDigest: string,
    platform: string,
  ): Promise<Readonly<Record<string, unknown>> | null>;
}
