import type { Listing, ListRequest, UpstreamRelease } from "../source.ts";
import { formatMemo, type Listed, type Memo, parseMemo } from "./memo.ts";

/** Most releases looked through in one check, however few of them the channels take. */
const maxLooked = 1_000;
/** Most requests of one check, whatever the pages hold. */
export const maxPages = 60;

/** One page in upstream's order, the newest first. */
export interface Page {
  releases: readonly UpstreamRelease[];
  /** Upstream had nothing on it, not even something that is passed over. */
  isEmpty: boolean;
  next: URL | null;
  /** How many upstream has in all, where it says so. */
  total: number | null;
}

interface Walked {
  releases: readonly UpstreamRelease[];
  isWhole: boolean;
  total: number | null;
}

/**
 * What upstream has as far as is known: what was seen now, then what an earlier check saw behind the last of it. Where upstream's
 * count says that something behind it came or went, that is not relied on, and read again.
 */
function joined({ releases, total }: Walked, memo: Memo | null): Pick<Memo, "listed" | "isWhole"> {
  const seen = new Set(releases.map((release) => release.tag));
  const now = releases.map(({ tag, stage }): Listed => ({ tag, stage, isReturned: false }));
  const overlap = memo?.listed.findLastIndex((entry) => seen.has(entry.tag)) ?? -1;
  if (memo === null || overlap === -1) return { listed: now, isWhole: false };
  // What lay before the overlap and was not seen now is gone.
  const met = memo.listed.slice(0, overlap + 1).filter((entry) => seen.has(entry.tag)).length;
  const growth = now.length - met - (overlap + 1 - met);
  const isShifted = total !== null && memo.total !== null && total - memo.total !== growth;
  return isShifted
    ? { listed: now, isWhole: false }
    : { listed: [...now, ...memo.listed.slice(overlap + 1)], isWhole: memo.isWhole };
}

/** Whether every channel has its places from what was seen and what the caller has, or there is no more to give. */
function isEnough(walked: Walked, memo: Memo | null, request: ListRequest): boolean {
  if (walked.isWhole) return true;
  const { listed, isWhole } = joined(walked, memo);
  const seen = new Set(walked.releases.map((release) => release.tag));
  return request.accepts.every((accept) => {
    const members = listed.filter(({ tag, stage }) => accept(tag, stage)).slice(0, request.limit);
    if (members.length < request.limit && !isWhole) return false;
    return members.every(({ tag, isReturned }) => isReturned || seen.has(tag) || request.known.has(tag));
  });
}

async function walk(
  first: URL,
  read: (url: URL) => Promise<Page>,
  memo: Memo | null,
  request: ListRequest,
): Promise<Walked> {
  const byTag = new Map<string, UpstreamRelease>();
  const visited = new Set<string>();
  let total: number | null = null;
  for (let url: URL | null = first; url !== null; ) {
    visited.add(url.href);
    const page: Page = await read(url);
    total ??= page.total;
    const before = byTag.size;
    // A release that was made meanwhile shifts the pages: the one at the border comes twice.
    for (const release of page.releases) if (!byTag.has(release.tag)) byTag.set(release.tag, release);
    const isRepeated = page.releases.length > 0 && byTag.size === before;
    const isCircle = isRepeated || page.isEmpty || (page.next !== null && visited.has(page.next.href));
    const isBound = byTag.size >= maxLooked || visited.size >= maxPages;
    const isWhole = page.next === null || isCircle || isBound;
    const walked = { releases: [...byTag.values()], isWhole, total };
    if (isEnough(walked, memo, request)) return walked;
    url = page.next;
  }
  return { releases: [...byTag.values()], isWhole: true, total };
}

/**
 * Which of what was seen now upstream did not have at the previous check; null on a first check, when nobody can tell. What lies
 * behind all that was seen then was there already, only further back than was looked. A release that was upcoming is new as a release.
 */
function appearedTags(walked: readonly UpstreamRelease[], memo: Memo | null): ReadonlySet<string> | null {
  if (memo === null) return null;
  const seen = new Map(memo.listed.map(({ tag, stage }) => [tag, stage]));
  const last = walked.findLastIndex((release) => seen.has(release.tag));
  const reach = memo.isWhole || last === -1 ? walked.length : last;
  const isNew = ({ tag, stage }: UpstreamRelease, index: number) =>
    seen.has(tag) ? seen.get(tag) === "prerelease" && stage === "release" : index < reach;
  return new Set(walked.filter(isNew).map((release) => release.tag));
}

/**
 * Reads pages until each channel has its places, and no further than that: where nothing changed that is the first page alone,
 * because what lay behind it is remembered. Returns the newest of each channel among what was read, and those watched.
 */
export async function listByPages(
  first: URL,
  read: (url: URL) => Promise<Page>,
  request: ListRequest,
): Promise<Listing> {
  const memo = parseMemo(request.memo);
  const walked = await walk(first, read, memo, request);
  const appeared = appearedTags(walked.releases, memo);
  const taken = new Set(request.watch);
  for (const accept of request.accepts) {
    const members = walked.releases.filter(({ tag, stage }) => accept(tag, stage));
    for (const { tag } of members.slice(0, request.limit)) taken.add(tag);
  }
  const releases = walked.releases
    .filter(({ tag }) => taken.has(tag))
    .map((release) =>
      appeared === null || request.known.has(release.tag)
        ? release
        : { ...release, appeared: appeared.has(release.tag) },
    );
  const model = walked.isWhole ? { ...joined(walked, null), isWhole: true } : joined(walked, memo);
  const returned = new Set(memo?.listed.flatMap(({ tag, isReturned }) => (isReturned ? [tag] : [])));
  const listed = model.listed
    .slice(0, maxLooked)
    .map((entry) => ({ ...entry, isReturned: taken.has(entry.tag) || returned.has(entry.tag) }));
  return {
    releases,
    total: Math.max(walked.total ?? model.listed.length, walked.releases.length),
    memo: formatMemo({ listed, isWhole: model.isWhole, total: walked.total }),
  };
}
