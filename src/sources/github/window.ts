import type { Accept, Listing, ListRequest, UpstreamRelease } from "../source.ts";
import type { Found, FoundPage } from "./found.ts";
import { formatMemo, type Memo } from "./memo.ts";

/** Pages that one check reads at most: at 100 entries each, what GitHub itself lets one page through. */
const maxPages = 10;

/** The newest part of a list, read page by page until every channel has what it takes. */
export interface Window {
  add(page: FoundPage): void;
  /** Whether another page would give a channel something that is neither listed nor stored. */
  needsMore(): boolean;
  /** `watched` were asked by name. `commits` are the revisions by tag, where the list itself has none. */
  listing(watched: readonly Found[], commits?: ReadonlyMap<string, string>): Listing;
}

/** Newest publish time first; where none is known, the list's own order. */
function byPublishTime(a: Found, b: Found): number {
  return (b.published_at ?? 0) - (a.published_at ?? 0);
}

/**
 * Reads no further than it must: a check of an unchanged list ends with its first page, because what is beyond it was stored by
 * an earlier one. `memory` is what that one left.
 */
export function createWindow(kind: Memo["kind"], request: ListRequest, memory: Memo | null): Window {
  const listed = new Map<string, Found>();
  const remembered = memory?.seen ?? new Map();
  let pages = 0;
  let firstPage = 0;
  let hasMore = true;
  let touchesMemory = false;

  /** Whether everything beyond the listed part is remembered. */
  const isWhole = () => !hasMore || pages >= maxPages || (touchesMemory && memory?.is_whole === true);

  const lacks = (accept: Accept): boolean => {
    let have = 0;
    for (const found of listed.values()) if (accept(found.tag, found.stage)) have += 1;
    let isMissing = !isWhole();
    for (const [tag, stage] of remembered) {
      if (have >= request.limit) return false;
      if (listed.has(tag) || !accept(tag, stage)) continue;
      if (request.known.has(tag)) have += 1;
      else isMissing = true;
    }
    return have < request.limit && isMissing;
  };

  /** Whether upstream got it after the previous check; undefined when nobody can tell. */
  const appeared = (found: Found): boolean | undefined => {
    if (memory === null || request.known.has(found.tag)) return undefined;
    const before = remembered.get(found.tag);
    if (before !== undefined) return before === "prerelease" && found.stage === "release";
    // Older than all that was read before: it came in because this check read further.
    const { oldest } = memory;
    return memory.is_whole || oldest === null || found.published_at === null || found.published_at >= oldest;
  };

  const toRelease = (found: Found, revision: string | null): UpstreamRelease => {
    const isNew = appeared(found);
    return { version: found.tag, ...found, revision, ...(isNew === undefined ? {} : { appeared: isNew }) };
  };

  const remember = (): Memo => {
    const seen = new Map([...listed.values()].map((found) => [found.tag, found.stage]));
    for (const [tag, stage] of remembered) if (!seen.has(tag)) seen.set(tag, stage);
    const times = [...listed.values()].flatMap((found) => (found.published_at === null ? [] : [found.published_at]));
    const oldest = Math.min(...times, memory?.oldest ?? Number.POSITIVE_INFINITY);
    return { kind, seen, page: firstPage, oldest: Number.isFinite(oldest) ? oldest : null, is_whole: isWhole() };
  };

  return {
    add: (page) => {
      pages += 1;
      hasMore = page.hasMore;
      for (const found of page.found) {
        touchesMemory ||= remembered.has(found.tag);
        // The list moves on while its pages are read: what was on one page can be on the next again.
        if (!listed.has(found.tag)) listed.set(found.tag, found);
      }
      if (pages === 1) firstPage = listed.size;
    },
    needsMore: () => hasMore && pages < maxPages && request.accepts.some(lacks),
    listing: (watched, commits) => {
      const newest = [...listed.values()].toSorted(byPublishTime);
      const chosen = new Map<string, Found>();
      const wanted = new Set(request.watch);
      for (const found of [...watched, ...newest]) if (wanted.has(found.tag)) chosen.set(found.tag, found);
      for (const accept of request.accepts) {
        const accepted = newest.filter((found) => accept(found.tag, found.stage)).slice(0, request.limit);
        for (const found of accepted) chosen.set(found.tag, found);
      }
      const memo = remember();
      return {
        releases: [...chosen.values()]
          .toSorted(byPublishTime)
          .map((found) => toRelease(found, commits?.get(found.tag) ?? found.revision)),
        total: listed.size === 0 ? 0 : memo.seen.size,
        memo: formatMemo(memo),
      };
    },
  };
}
