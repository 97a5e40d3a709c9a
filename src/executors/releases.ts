/** A release that an executor may go to. */
export interface DesiredRelease {
  version: string;
  tag: string;
  /** The digest behind the tag; null until resolved. */
  digest: string | null;
  /** Of a chart: the version of the application in it, by which its images are tagged. */
  app_version?: string | null;
  published_at: number | null;
}

export interface ReleaseChoice {
  /** The channel's latest that is old enough; null when there is none. */
  release: DesiredRelease | null;
  /** When a newer release reaches the minimum age; null when none waits for that. */
  ready_at: number | null;
}

/** A login of a registry, under the id of the credential that has it. */
export interface RegistryLogin {
  credential_id: string;
  username: string;
  password: string;
}

/** How the registry of an image is asked. */
export interface RegistryAccess {
  login: RegistryLogin | null;
  /** Null where nobody says: then over https. */
  is_plain: boolean | null;
}

/** What an image is asked about through: a source that watches it, by its id, or the image's own registry. */
export type ImagePlace = { source_id: string } | { image: string; access: RegistryAccess };

/** What executors ask of trackers. */
export interface TrackerReleases {
  desiredRelease(sourceId: string, channel: string, options: { minimum_age_ms: number }): Promise<ReleaseChoice>;
  /** The image that a source watches, without a tag; null for a source that watches no image. */
  imageFor(sourceId: string): Promise<string | null>;
  /** How the nearest source at the registry of an image asks it; null where no source watches that registry. */
  sourceAt(image: string): Promise<{ credential_id: string | null; is_plain: boolean } | null>;
  /** The digest behind a tag, asked at the image's registry; null when there is no such tag. May throw `PluginError`. */
  findDigest(image: string, tag: string, access: RegistryAccess): Promise<string | null>;
  /** The defaults of an image for a platform, read from its registry; null when it has none. May throw `PluginError`. */
  readImageConfig(
    place: ImagePlace,
    tagOrDigest: string,
    platform: string,
  ): Promise<Readonly<Record<string, unknown>> | null>;
}
