import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import { AppError, PluginError } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { orderTags } from "../versions/order.ts";
import { judgeRelease, latestOfChannel } from "./judge.ts";
import type { PreviewView, trackerSchemas } from "./schema.ts";
import { openSource, type SourceAddress, type SourceOpener } from "./source-session.ts";

/** While somebody types a pattern, upstream is asked once. */
const listingLifeMs = 10 * 60_000;
/** After a failure too, so that each keystroke does not meet the same refusal. */
const failureLifeMs = 30_000;
const maxListings = 20;
/** Of one listing; more are cut, so that the memory is bounded at 20 listings. */
const maxNames = 50_000;
const maxTagsShown = 500;
/** How many tags are judged before others get their turn. */
const tagsPerTurn = 100;
const requestTimeoutMs = 15_000;
/** Of the whole listing. */
const listingLimitMs = 60_000;

interface Listing {
  names: Promise<readonly string[]>;
  listed_at: number;
  expires_at: number;
}

interface PreviewOptions extends SourceOpener {
  clock: Clock;
  schemas: ReturnType<typeof trackerSchemas>;
  /** Upstream's words without secrets, at most 500 characters. */
  excerpt: (text: string) => string;
  /** Refuses an unknown credential and one of another kind, naming the field. */
  requireCredential: (kind: string, id: string | null) => Promise<void>;
}

/** What a source's rules would take of what upstream has, without storing anything. */
export function trackerPreviews(options: PreviewOptions) {
  const { clock } = options;
  const listings = new Map<string, Listing>();

  const fetchNames = async (address: SourceAddress): Promise<readonly string[]> => {
    const overdue = new AbortController();
    const ended = new AbortController();
    clock.sleep(listingLimitMs, ended.signal).then(
      () => overdue.abort(),
      () => "listed in time",
    );
    try {
      const { source } = await openSource(options, address, { timeout_ms: requestTimeoutMs, signal: overdue.signal });
      if (source.listNames === undefined) {
        throw new PluginError("rejected", `Sources of kind "${address.kind}" have no list of names to judge`);
      }
      return orderTags((await source.listNames()).slice(0, maxNames));
    } finally {
      ended.abort();
    }
  };

  const listingOf = (address: SourceAddress): Listing => {
    const key = JSON.stringify([address.kind, address.config, address.credential_id]);
    const now = clock.now();
    const stored = listings.get(key);
    if (stored !== undefined && stored.expires_at > now && stored.listed_at <= now) return stored;
    listings.delete(key);
    const listing: Listing = { names: fetchNames(address), listed_at: now, expires_at: now + listingLifeMs };
    listing.names.catch(() => {
      listing.expires_at = Math.min(listing.expires_at, clock.now() + failureLifeMs);
    });
    listings.set(key, listing);
    const oldest = listings.keys().next();
    if (listings.size > maxListings && oldest.done !== true) listings.delete(oldest.value);
    return listing;
  };

  const namesOf = async (listing: Listing): Promise<readonly string[]> => {
    try {
      return await listing.names;
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      const retry = error.retry_after_ms === null ? undefined : Math.ceil(error.retry_after_ms / 1000);
      throw new AppError("upstream_failed", 502, options.excerpt(error.message), {
        cause: error,
        retry_after_seconds: retry,
      });
    }
  };

  return {
    /** Judges upstream's names by the rules given. Throws 422 for a bad rule, 502 `upstream_failed` with upstream's words. */
    preview: async (input: unknown): Promise<PreviewView> => {
      const { kind, config, credential_id, channels, sorting } = parseInput(options.schemas.PreviewInput, input);
      await options.requireCredential(kind, credential_id);
      const listing = listingOf({ kind, config, credential_id });
      const names = await namesOf(listing);
      const accepted = new Map<string, string[]>(channels.map((channel) => [channel.type, []]));
      const tags: PreviewView["tags"] = [];
      for (const [position, tag] of names.entries()) {
        if (position % tagsPerTurn === tagsPerTurn - 1) await nextTurn();
        const verdicts = channels.map((channel) => ({
          type: channel.type,
          ...judgeRelease({ tag, stage: "tag" }, channel),
        }));
        for (const verdict of verdicts) if (verdict.accepted) accepted.get(verdict.type)?.push(tag);
        if (position < maxTagsShown) tags.push({ tag, verdicts });
      }
      return {
        total: names.length,
        tags,
        channels: channels.map((channel) => {
          const { type } = channel;
          const taken = accepted.get(type) ?? [];
          // No times are known, so each counts as published at once: then the order is by meaning.
          const dated = taken.map((tag) => ({ tag, stage: "tag" as const, published_at: null, first_observed_at: 0 }));
          return {
            type,
            accepted_count: taken.length,
            refused_count: names.length - taken.length,
            latest: latestOfChannel(dated, channel, sorting)?.tag ?? null,
          };
        }),
        listed_at: listing.listed_at,
      };
    },
  };
}
