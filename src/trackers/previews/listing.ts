import type { Clock } from "../../clock.ts";
import { AppError, PluginError } from "../../errors.ts";
import { say, withTexts } from "../../messages/message.ts";
import { RecentMap } from "../../recent-map.ts";
import type { ReleaseStage } from "../../sources/source.ts";
import { orderTags } from "../../versions/order.ts";
import { publishTime } from "../releases/facts.ts";
import { openSource, pluginOf, type SourceAddress, type SourceOpener } from "../upstreams/source-session.ts";

/** While a pattern is being typed, upstream is queried once. */
const listingLifeMs = 10 * 60_000;
/** Failures are cached too, so that keystrokes do not repeat them. */
const failureLifeMs = 30_000;
const maxListings = 20;
/** Per listing; the rest is cut, which bounds memory at 20 listings and the time for sorting. */
const maxNames = 50_000;
const maxNameCharacters = 2_000_000;
/** Releases with their times: one to three requests, and enough history to judge rules by. */
const datedDepth = 100;
const requestTimeoutMs = 15_000;
/** For the whole listing. */
const listingLimitMs = 60_000;

/** An upstream version, as far as a preview needs it. */
export interface ListedVersion {
  tag: string;
  stage: ReleaseStage;
  /** Milliseconds UTC; null when the listing has no time. */
  published_at: number | null;
  /** Replaces an unknown publish time: the first check of a source that has the version; left out when there is none. */
  first_observed_at?: number;
}

export interface PreviewListing {
  /** Newest first, by version. */
  versions: Promise<readonly ListedVersion[]>;
  listed_at: number;
}

export interface PreviewListingOptions extends SourceOpener {
  clock: Clock;
  /** Upstream text without secrets, at most 500 characters. */
  excerpt: (text: string) => string;
}

interface KeptListing extends PreviewListing {
  expires_at: number;
}

/** Upstream listings, requested once for many previews. */
export function previewListings(options: PreviewListingOptions) {
  const { clock, registry } = options;
  const listings = new RecentMap<string, KeptListing>(maxListings);

  const list = async (
    address: SourceAddress,
    usesTags: boolean,
    signal: AbortSignal,
  ): Promise<readonly ListedVersion[]> => {
    const { source } = await openSource(options, address, { timeout_ms: requestTimeoutMs, signal });
    if (pluginOf(registry, address.kind).tells_publish_times === true) {
      const request = { limit: datedDepth, accepts: [() => true], known: new Map(), watch: [], memo: null };
      const listed = await source.listReleases(request);
      const isBare = listed.releases.length === 0 && listed.total === 0;
      const { releases } =
        isBare && usesTags && source.listTags !== undefined ? await source.listTags(request) : listed;
      return releases.map(({ tag, stage, published_at }) => ({
        tag,
        stage,
        published_at: publishTime(published_at, clock.now(), clock.now()),
      }));
    }
    if (source.listNames === undefined) {
      throw new PluginError("rejected", say("sources.no_preview", { kind: address.kind }));
    }
    const names = firstNames(await source.listNames());
    return names.map((tag) => ({ tag, stage: "tag", published_at: null }));
  };

  const fetchVersions = async (address: SourceAddress, usesTags: boolean): Promise<readonly ListedVersion[]> => {
    const overdue = new AbortController();
    const ended = new AbortController();
    clock.sleep(listingLimitMs, ended.signal).then(
      () => overdue.abort(),
      () => "listed in time",
    );
    try {
      const versions = await list(address, usesTags, overdue.signal);
      const byTag = new Map(versions.map((version) => [version.tag, version]));
      return orderTags([...byTag.keys()]).flatMap((tag) => byTag.get(tag) ?? []);
    } finally {
      ended.abort();
    }
  };

  return {
    /** A listing is cached for ten minutes, a failure for half a minute. `usesTags`: release fallback. */
    listingOf: (address: SourceAddress, usesTags: boolean): PreviewListing => {
      const key = JSON.stringify([address.kind, address.config, address.credential_id, usesTags]);
      const now = clock.elapsed();
      const stored = listings.get(key);
      if (stored !== undefined && stored.expires_at > now) return stored;
      const listing = {
        versions: fetchVersions(address, usesTags),
        listed_at: clock.now(),
        expires_at: now + listingLifeMs,
      };
      listing.versions.catch(() => {
        listing.expires_at = Math.min(listing.expires_at, clock.elapsed() + failureLifeMs);
      });
      listings.set(key, listing);
      return listing;
    },

    /** Throws 424 `upstream_failed` with upstream's text. */
    versionsOf: async (listing: PreviewListing): Promise<readonly ListedVersion[]> => {
      try {
        return await listing.versions;
      } catch (error) {
        if (!(error instanceof PluginError)) throw error;
        const retry = error.retry_after_ms === null ? undefined : Math.ceil(error.retry_after_ms / 1000);
        throw new AppError("upstream_failed", 424, withTexts(error.said, options.excerpt), {
          cause: error,
          retry_after_seconds: retry,
        });
      }
    },
  };
}

function firstNames(names: readonly string[]): readonly string[] {
  let characters = 0;
  const end = names.slice(0, maxNames).findIndex((name) => {
    characters += name.length;
    return characters > maxNameCharacters;
  });
  return names.slice(0, end === -1 ? maxNames : end);
}
