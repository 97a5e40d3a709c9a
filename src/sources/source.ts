import type { Message } from "../messages/types.ts";
import type { ConfigSchema, PluginContext } from "../plugin.ts";

/** Every kind of upstream. Adding one here makes the compiler list what is missing (see docs/plug-ins.md). */
export const sourceKinds = ["gitea", "github", "gitlab", "helm", "oci"] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** Whether what a kind releases are images; repositories and charts tell versions, for which images are tagged elsewhere. */
export function releasesImages(kind: string): boolean {
  return kind === ("oci" satisfies SourceKind);
}

/** What upstream says of one release: `release` and `prerelease` are the forge's own words, `tag` is a bare tag. */
export type ReleaseStage = "release" | "prerelease" | "tag";

export interface UpstreamRelease {
  /** What people call it; often the tag itself. At most 256 characters. */
  version: string;
  /** The raw name that patterns are matched against. */
  tag: string;
  stage: ReleaseStage;
  /** Milliseconds UTC; null when upstream does not know (then the first observation counts). */
  published_at: number | null;
  /** Commit or digest; null when it could not be resolved this time (a later check upgrades it without an event). */
  revision: string | null;
  url: string | null;
  notes: string | null;
  /** Of a chart: the version of the application in it, always as text. */
  app_version?: string | null;
  /** Of a chart: upstream marked it as one that is no longer cared for. */
  is_deprecated?: boolean;
  /** Of an image: the commit that it says it was built from (`org.opencontainers.image.revision`). */
  source_revision?: string | null;
  /** Of an image: the version that it says it is (`org.opencontainers.image.version`), which names what a floating tag stands for. */
  labelled_version?: string | null;
  /**
   * Of a release that was not known: true when upstream did not have it at the previous check, false when it did. Left out when
   * the source cannot tell; a release that is not known then counts as new.
   */
  appeared?: boolean;
}

/** What an earlier check stored, so that it is never asked for again. */
export interface KnownRelease {
  revision: string | null;
  published_at: number | null;
}

/** Whether a channel takes a release of this name and stage. */
export type Accept = (tag: string, stage: ReleaseStage) => boolean;

export interface ListRequest {
  /**
   * How many releases are kept beside those in `watch`, 1 to 100, shared by the members of `accepts` in turns (`sharePlaces`): what none
   * of them takes needs no place. A source that pays for each release returns no others; one that has them for nothing may return
   * as many for each.
   */
  limit: number;
  /** Most that are kept for one member of `accepts`, where that is less than `limit`. */
  most_each?: number;
  /** One or more for each channel, so that the versions of a busy one leave the others their places. */
  accepts: readonly Accept[];
  /**
   * Stands for what `accepts` would say: equal texts, equal verdicts. By it a source may remember what it picked from a list; left
   * out, it judges each time.
   */
  rules?: string;
  /** By tag. A known release is returned as it is, at no cost, unless it is in `watch`. */
  known: ReadonlyMap<string, KnownRelease>;
  /** Tags whose revision is asked again though it is known: the channels' current ones, those that executors run. */
  watch: readonly string[];
  /** What the same source returned as `memo` last time; null on the first check or after its configuration changed. */
  memo: string | null;
}

export interface Listing {
  releases: readonly UpstreamRelease[];
  /** How many tags upstream has in all, as far as they were listed. */
  total: number;
  /** The source's own memory between checks (bounded to 2 MiB), opaque to everybody else. */
  memo: string | null;
  /** Upstream answered from another place of the same host: where the repository is now, as its configuration would name it. */
  moved_to?: string | null;
}

/** What the cost of a check depends on besides its configuration. */
export interface CostTerms {
  has_credential: boolean;
  /** Without releases, tags are listed in their place. */
  has_fallback: boolean;
  /** How many release channels it has: where each digest is asked by itself, that of each channel's latest is. */
  channel_count: number;
}

/** What one check of an unchanged source costs. */
export interface CheckCost {
  /** Requests in all. */
  requests: number;
  /** Those of them that count against the host's rate limit. */
  quota: number;
  /** How many the host allows in an hour as long as it has not said so itself; null where no limit is known. */
  hourly_limit: number | null;
}

/** The defaults that an image gives to its containers; engine wire names, because they are merged with engine JSON. */
export interface ImageConfig {
  digest: string;
  created_at: number | null;
  config: Readonly<Record<string, unknown>>;
}

export interface OpenSource {
  listReleases(request: ListRequest): Promise<Listing>;
  /** Release fallback: raw git tags, for projects that make no releases. */
  listTags?(request: ListRequest): Promise<Listing>;
  /** Every tag name, for previews: one cheap listing, no details. */
  listNames?(): Promise<readonly string[]>;
  /** A file at a ref (null: the default branch); null when there is none. For custom changelogs. */
  readFile?(path: string, ref: string | null): Promise<string | null>;
  /** The image defaults behind a tag or digest for a platform such as `linux/amd64`, so that a plan needs no pull. */
  readImageConfig?(tagOrDigest: string, platform: string): Promise<ImageConfig | null>;
  /** The digest behind a tag of an image; null when there is no such tag. */
  findDigest?(tag: string): Promise<string | null>;
  /** The image reference (registry and repository, no tag) that executors take in policy "use tracker image". */
  imageName?: string;
}

export interface Source<K extends SourceKind = SourceKind> {
  kind: K;
  title: string;
  Config: ConfigSchema;
  /** Upstream tells releases from pre-releases, so that a channel can take one of them alone. */
  has_release_types?: true;
  /** It is a repository, whose files can be read (`readFile`): changelogs can be taken from it. */
  reads_files?: true;
  /** A listing tells publish times at no cost of its own, so that a preview can play the past day by day. */
  tells_publish_times?: true;
  /** `secret` is the parsed secret of a credential of the same kind, or null. Opening sends nothing. */
  open(config: unknown, secret: unknown, context: PluginContext): OpenSource;
  /** The host that the rate ledger and the per-host pool count for this configuration. */
  host(config: unknown): string;
  /** Which upstream a configuration means, where not all of it says so: what is learnt of one is true of the other. */
  identity?(config: unknown): string;
  /** The configuration that watches this image, over plain http or not. */
  configFor?(image: string, is_plain: boolean): unknown;
  /** Whether it is asked over plain http; of kinds with `configFor`. */
  isPlain?(config: unknown): boolean;
  /** What a check in steady state costs; tags that executors run come on top. */
  cost(config: unknown, terms: CostTerms): CheckCost;
  /** The configuration's field that `moved_to` of a listing is written for; only of kinds whose repositories can move. */
  place_field?: string;
  /** Why this configuration cannot do without a credential; null when it can. Asked when a tracker is saved. */
  credentialNeed?(config: unknown): Message | null;
  /** Checks that one host bears at once; left out: one. */
  checks_per_host?: number;
  /** Largest body in bytes, after decompression; left out: 16 MiB. */
  max_bytes?: number;
}
