import type { Message } from "../messages/types.ts";
import type { ConfigSchema, PluginContext } from "../plugin.ts";

/** Every kind of upstream. Adding one here makes the compiler list what is missing (see docs/plug-ins.md). */
export const sourceKinds = ["gitea", "github", "gitlab", "helm", "oci"] as const;
export type SourceKind = (typeof sourceKinds)[number];

export function isSourceKind(kind: unknown): kind is SourceKind {
  return sourceKinds.some((known) => known === kind);
}

/** Whether a kind releases images. Repositories and charts release versions, whose images are tagged elsewhere. */
export function releasesImages(kind: string): boolean {
  return kind === ("oci" satisfies SourceKind);
}

/** Whether a kind releases charts. */
export function releasesCharts(kind: string): boolean {
  return kind === ("helm" satisfies SourceKind);
}

/** How upstream marks a release: `release` and `prerelease` are the forge's own terms, `tag` is a bare tag. */
export type ReleaseStage = "release" | "prerelease" | "tag";

export interface UpstreamRelease {
  /** The version as people write it, often the tag itself. At most 256 characters. */
  version: string;
  /** The raw name that patterns are matched against. */
  tag: string;
  stage: ReleaseStage;
  /** Milliseconds UTC; null if upstream does not know (then the first observation counts). */
  published_at: number | null;
  /** Commit or digest; null if it could not be resolved this time (a later check adds it without an event). */
  revision: string | null;
  url: string | null;
  notes: string | null;
  /** For a chart: the version of its application, always as text. */
  app_version?: string | null;
  /** For a chart: upstream marked it as deprecated. */
  is_deprecated?: boolean;
  /** For an image: the commit in its label `org.opencontainers.image.revision`. */
  source_revision?: string | null;
  /** For an image: the version in its label `org.opencontainers.image.version`, which names what a floating tag stands for. */
  labelled_version?: string | null;
  /** For an image whose manifest has been read: the download size for one platform. */
  size?: ImageSize | null;
  /**
   * For an unknown release: true if upstream did not have it at the previous check, false if it did. Omitted if the source cannot
   * tell; an unknown release then counts as new.
   */
  appeared?: boolean;
}

/** What it takes to download an image: its compressed layers and its configuration. */
export interface ImageSize {
  bytes: number;
  /** `linux/amd64`; other platforms of the same tag have other sizes. */
  platform: string;
}

/** What an earlier check stored, so that it is never requested again. */
export interface KnownRelease {
  revision: string | null;
  published_at: number | null;
}

/** Whether a channel includes a release of this name and stage. */
export type Accept = (tag: string, stage: ReleaseStage) => boolean;

export interface ListRequest {
  /**
   * How many releases are kept beside those in `watch`, 1 to 100, shared by the members of `accepts` in turns (`sharePlaces`). A release
   * that none of them includes needs no place. A source that pays for each release returns no others; a source that gets them for
   * free may return as many for each.
   */
  limit: number;
  /** Upper bound for one member of `accepts`, if less than `limit`. */
  most_each?: number;
  /** One or more per channel, so that a busy channel leaves places for the others. */
  accepts: readonly Accept[];
  /**
   * Identifies the rules behind `accepts`: equal texts, equal results. With it a source may remember what it chose from a list;
   * without it, it decides each time.
   */
  rules?: string;
  /** By tag. A known release is returned as it is, without a request, unless it is in `watch`. */
  known: ReadonlyMap<string, KnownRelease>;
  /** Tags whose known revision is requested again: the channels' current ones and those that executors run. */
  watch: readonly string[];
  /** The `memo` that the same source returned last time; null on the first check or after its configuration changed. */
  memo: string | null;
  /** The platform whose image is read where a tag has several: the one that executors run, such as `linux/arm64`. */
  platform?: string | null;
}

export interface Listing {
  releases: readonly UpstreamRelease[];
  /** How many tags upstream has in total, as far as they were listed. */
  total: number;
  /** The source's own memory between checks (at most 2 MiB), opaque to its callers. */
  memo: string | null;
  /** The repository has moved on the same host: its new place, as the configuration would name it. */
  moved_to?: string | null;
}

/** What the cost of a check depends on, besides its configuration. */
export interface CostTerms {
  has_credential: boolean;
  /** Tags are listed instead if there are no releases. */
  has_fallback: boolean;
  /** Number of release channels: if digests are requested one by one, each channel's latest is one request. */
  channel_count: number;
}

/** What one check of an unchanged source costs. */
export interface CheckCost {
  /** Requests in total. */
  requests: number;
  /** Requests that count against the host's rate limit. */
  quota: number;
  /** Requests per hour that the host allows, until it reports its own limit; null if no limit is known. */
  hourly_limit: number | null;
}

/** A version as a listing named it. `url` is upstream's own word: it may lead anywhere. */
export type ListedVersion = Pick<UpstreamRelease, "tag" | "stage" | "url">;

/** Addresses for people. Names come from upstream: none of them may decide the host, or lead out of the repository. */
export interface WebPages {
  /** The page of a version; null if it has none. */
  version(version: ListedVersion): string | null;
  /** The page with the changes from one version to another; null if one of them has none. Omitted for kinds without such pages. */
  comparison?(from: ListedVersion, to: ListedVersion): string | null;
}

/** The defaults of an image for its containers, in the engine's names, because they are merged with engine JSON. */
export interface ImageConfig {
  digest: string;
  created_at: number | null;
  config: Readonly<Record<string, unknown>>;
  /** Null if the manifest does not state it. */
  size: ImageSize | null;
}

export interface OpenSource {
  listReleases(request: ListRequest): Promise<Listing>;
  /** Release fallback: raw git tags, for projects without releases. */
  listTags?(request: ListRequest): Promise<Listing>;
  /** Every tag name, for previews: one cheap listing, no details. */
  listNames?(): Promise<readonly string[]>;
  /** A file at a ref (null: the default branch); null if it does not exist. For custom changelogs. */
  readFile?(path: string, ref: string | null): Promise<string | null>;
  /** The image defaults of a tag or digest for a platform such as `linux/amd64`, so that a plan needs no pull. */
  readImageConfig?(tagOrDigest: string, platform: string): Promise<ImageConfig | null>;
  /** The digest of an image's tag; null if there is no such tag. */
  findDigest?(tag: string): Promise<string | null>;
  /**
   * The archive (tar.gz) of a chart's version. `digest`: the version's `revision`, which another archive may not replace; null if it is
   * unknown. Throws `not_found` if upstream no longer has it, and `malformed` for another one.
   */
  readChart?(version: string, digest: string | null): Promise<Uint8Array>;
  /** The image reference (registry and repository, no tag) for executors with the policy "use tracker image". */
  imageName?: string;
  /** The chart that it releases, for executors of charts. */
  chartName?: string;
}

export interface Source<K extends SourceKind = SourceKind> {
  kind: K;
  title: string;
  Config: ConfigSchema;
  /** Upstream distinguishes releases from pre-releases, so that a channel can include only one of them. */
  has_release_types?: true;
  /** It is a repository whose files can be read (`readFile`), for changelogs. */
  reads_files?: true;
  /** A listing has publish times without extra requests, so that a preview can simulate the past day by day. */
  tells_publish_times?: true;
  /** `secret` is the parsed secret of a credential of the same kind, or null. Opening sends nothing. */
  open(config: unknown, secret: unknown, context: PluginContext): OpenSource;
  /** The host that the rate ledger and the per-host pool use for this configuration. */
  host(config: unknown): string;
  /** Identifies the upstream if not all of the configuration does: equal identities share what is known. */
  identity?(config: unknown): string;
  /** The configuration that watches this image, over plain HTTP or not. */
  configFor?(image: string, is_plain: boolean): unknown;
  /** Whether it uses plain HTTP; for kinds with `configFor`. */
  isPlain?(config: unknown): boolean;
  /** The cost of a check in steady state, without the tags that executors run. */
  cost(config: unknown, terms: CostTerms): CheckCost;
  /** The configuration field for a listing's `moved_to`; only for kinds whose repositories can move. */
  place_field?: string;
  /** Its pages on the web, formed from the configuration without any request; null if it has none. */
  pages(config: unknown): WebPages | null;
  /** Why this configuration needs a credential; null if it does not. Checked when a tracker is saved. */
  credentialNeed?(config: unknown): Message | null;
  /** Parallel checks per host; one if omitted. */
  checks_per_host?: number;
  /** Largest body in bytes, after decompression; 16 MiB if omitted. */
  max_bytes?: number;
}
