import { sharePlaces } from "../places.ts";
import type { Listing, ListRequest, UpstreamRelease } from "../source.ts";
import type { Found, FoundPage } from "./found.ts";
import { formatMemo, type Memo, type Remembered } from "./memo.ts";

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
function byPublishTime(a: { published_at: number | null }, b: { published_at: number | null }): number {
  return (b.published_at ?? 0) - (a.published_at ?? 0);
}

interface Entry extends Remembered {
  tag: string;
}

/**
 * What takes places within the depth. The caller keeps watched ones in any case, and then fewer others of their group: they count here,
 * so that no more is read than is kept.
 */
function placesOf(request: ListRequest, entries: readonly Entry[], isWhole: boolean): string[] {
  const { accepts, limit, most_each = limit } = request;
  const watched = new Set(request.watch);
  const watchedEntries = entries.filter(({ tag }) => watched.has(tag));
  const groups = accepts.map((accept, group) => {
    const tags: string[] = [];
    let others = most_each - watchedEntries.filter(({ tag, stage }) => accept(tag, stage)).length;
    for (const { tag, stage } of entries) {
      if (others <= 0 || tags.length >= limit) break;
      if (!accept(tag, stage)) continue;
      tags.push(tag);
      if (!watched.has(tag)) others -= 1;
    }
    // What would be further down, and is not known yet. No tag has a blank.
    for (; !isWhole && others > 0 && tags.length < limit; others -= 1) tags.push(` ${group} ${tags.length}`);
    return tags;
  });
  return sharePlaces(groups, limit, limit);
}

/**
 * Reads no further than it must: a check of an unchanged list ends with its first page, because what is beyond it was stored by
 * an earlier one. `memory` is what that one left.
 */
export function createWindow(kind: Memo["kind"], request: ListRequest, memory: Memo | null): Window {
  const listed = new Map<string, Found>();
  const remembered = memory?.seen ?? new Map<string, Remembered>();
  let pages = 0;
  let firstPage = 0;
  let hasMore = true;
  let touchesMemory = false;

  /** Everything that is ever read was read in this check: what is only remembered is gone. */
  const isReadOut = () => !hasMore || pages >= maxPages;
  /** Everything beyond the listed part is remembered. */
  const isWhole = () => isReadOut() || (touchesMemory && memory?.is_whole === true);

  /** What is there as far as anybody knows, the newest first. */
  const entries = (): Entry[] => {
    const beyond = [...remembered].filter(([tag]) => !listed.has(tag) && !isReadOut());
    return [...listed.values(), ...beyond.map(([tag, entry]) => ({ tag, ...entry }))].toSorted(byPublishTime);
  };

  const needsMore = (): boolean =>
    !isReadOut() && placesOf(request, entries(), isWhole()).some((tag) => !listed.has(tag) && !request.known.has(tag));

  /** The earliest publish time that was read before, unless all was read. */
  const horizon =
    memory === null || memory.is_whole
      ? null
      : Math.min(...[...memory.seen.values()].flatMap(({ published_at }) => published_at ?? []));

  /** Whether upstream got it after the previous check; undefined when nobody can tell. */
  const appeared = (found: Found): boolean | undefined => {
    if (memory === null || request.known.has(found.tag)) return undefined;
    const before = remembered.get(found.tag);
    if (before !== undefined) return before.stage === "prerelease" && found.stage === "release";
    // Older than all that was read before: it came in because this check read further.
    return horizon === null || found.published_at === null || found.published_at >= horizon;
  };

  const toRelease = (found: Found, revision: string | null): UpstreamRelease => {
    const isNew = appeared(found);
    return { version: found.tag, ...found, revision, ...(isNew === undefined ? {} : { appeared: isNew }) };
  };

  const remember = (): Memo => {
    const seen = new Map<string, Remembered>();
    for (const { tag, stage, published_at } of listed.values()) seen.set(tag, { stage, published_at });
    for (const [tag, entry] of remembered) if (!seen.has(tag) && !isReadOut()) seen.set(tag, entry);
    return { kind, seen, page: firstPage, is_whole: isWhole() };
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
    needsMore,
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
