import { sharePlaces } from "../places.ts";
import type { KnownRelease, Listing, ListRequest, UpstreamRelease } from "../source.ts";
import type { Remembered } from "./memo.ts";
import {
  type Extent,
  formatMemo,
  hadReleases,
  isListed,
  type Memo,
  maxRemembered,
  parseMemo,
  questionOf,
  recall,
} from "./memo.ts";

/** Pages that one check reads at most, whatever is on them. */
const maxPages = 60;
/** Releases beyond the pages that one check requests by name; the others follow in the next checks. */
const maxLookups = 5;

/** One page of a list, in upstream's order, the newest first. */
export interface ForgePage {
  /** Without drafts and names that git does not allow. */
  releases: readonly UpstreamRelease[];
  /** Entries of all kinds. */
  count: number;
  /** Entries on all pages; null if upstream does not say. */
  total: number | null;
  /** Watched releases that came with the page, wherever they are in the list. */
  named?: readonly UpstreamRelease[];
  /** Reads the next page; null after the last one. */
  next: (() => Promise<ForgePage>) | null;
}

/** What a forge provides; addresses, queries and responses are its own business. */
export interface ForgeList {
  list: Memo["list"];
  first(memory: Memo | null): Promise<ForgePage>;
  /** If the list has no commits. */
  commits?: {
    /** By tag. */
    list(): Promise<ReadonlyMap<string, string>>;
    /** A release by its tag; null if there is none. */
    find(tag: string): Promise<UpstreamRelease | null>;
  };
}

/**
 * Entries on the newest page. A first check reads full pages. Later checks need only `each` entries for a place, because what lies
 * beyond is remembered.
 */
export function newestPageSize(
  { limit }: ListRequest,
  memory: Memo | null,
  { each, least, most }: { each: number; least: number; most: number },
): number {
  return memory === null ? most : Math.min(Math.max(limit * each, least), most);
}

/** The newest part of a list as this check reads it, and what an earlier check left. */
interface Walk {
  listed: Map<string, UpstreamRelease>;
  named: readonly UpstreamRelease[];
  extent: Extent;
  total: number | null;
  memory: Memo | null;
  remembered: ReadonlyMap<string, Remembered>;
}

/** Newest publish time first. A release without one stays behind the release that upstream lists before it. */
function newestFirst<T extends { published_at: number | null }>(entries: readonly T[]): readonly T[] {
  let time = Number.MAX_SAFE_INTEGER;
  return entries
    .map((entry) => {
      time = entry.published_at ?? time;
      return { entry, time };
    })
    .toSorted((a, b) => b.time - a.time)
    .map(({ entry }) => entry);
}

/**
 * What upstream has, as far as is known: what was read now, then what an earlier check read beyond it. That memory is not used if
 * upstream's count shows a change beyond the pages.
 */
function outlook({ listed, extent, total, memory, remembered }: Walk): Pick<Memo, "entries" | "extent"> {
  const isPlaced = (tag: string) => remembered.get(tag)?.standing === "placed";
  const now = [...listed.values()].map(
    ({ tag, stage, published_at }): Remembered => ({
      tag,
      stage,
      published_at,
      standing: isPlaced(tag) ? "placed" : "listed",
    }),
  );
  const before = memory?.entries.filter(isListed) ?? [];
  const places = new Map(before.map(({ tag }, index) => [tag, index]));
  const last = now.findLast(({ tag }) => places.has(tag));
  if (extent !== "part" || memory === null || last === undefined) return { entries: now, extent };
  const isUnlisted = ({ tag }: Remembered) => !listed.has(tag);
  // Without a count, a release that is not where it was may be further down.
  if (total === null || memory.total === null) {
    return { entries: [...now, ...before.filter(isUnlisted)], extent: memory.extent };
  }
  const border = (places.get(last.tag) ?? 0) + 1;
  const came = now.filter(({ tag }) => !places.has(tag)).length;
  const went = before.slice(0, border).filter(isUnlisted).length;
  if (total - memory.total !== came - went) return { entries: now, extent };
  return { entries: [...now, ...before.slice(border).filter(isUnlisted)], extent: memory.extent };
}

/**
 * What has a place within the depth. The caller always keeps watched releases, and then fewer others of their group: they count
 * here, so that no more is read than is kept.
 */
function placesOf(request: ListRequest, { entries, extent }: Pick<Memo, "entries" | "extent">): readonly Remembered[] {
  const { accepts, limit, most_each = limit } = request;
  const watch = new Set(request.watch);
  const newest = newestFirst(entries);
  const watched = newest.filter(({ tag }) => watch.has(tag));
  const groups = accepts.map((accept) => {
    const group: Remembered[] = [];
    let others = most_each - watched.filter(({ tag, stage }) => accept(tag, stage)).length;
    for (const entry of newest) {
      if (others <= 0 || group.length >= limit) break;
      if (!accept(entry.tag, entry.stage)) continue;
      group.push(entry);
      if (!watch.has(entry.tag)) others -= 1;
    }
    // Further down and not known yet.
    for (; extent === "part" && others > 0 && group.length < limit; others -= 1) {
      group.push({ tag: "", stage: "tag", published_at: null, standing: "listed" });
    }
    return group;
  });
  return sharePlaces(groups, limit, limit);
}

/** Whether the caller has everything with a place, or gets it from the pages. */
function isEnough(walk: Walk, request: ListRequest): boolean {
  const hasPlace = ({ tag, standing }: Remembered) =>
    standing === "placed" || walk.listed.has(tag) || request.known.has(tag);
  return walk.extent !== "part" || placesOf(request, outlook(walk)).every(hasPlace);
}

/** Reads pages until each channel has its places. */
async function walkPages(forge: ForgeList, request: ListRequest, memory: Memo | null): Promise<Walk> {
  const remembered = new Map(memory?.entries.map((entry) => [entry.tag, entry]));
  const walk: Walk = { listed: new Map(), named: [], extent: "part", total: null, memory, remembered };
  let count = 0;
  let next: ForgePage["next"] = () => forge.first(memory);
  for (let pages = 1; next !== null; pages += 1) {
    const page: ForgePage = await next();
    // A new release moves the others: one can be on two pages.
    for (const release of page.releases) if (!walk.listed.has(release.tag)) walk.listed.set(release.tag, release);
    walk.named = [...walk.named, ...(page.named ?? [])];
    walk.total = page.total ?? walk.total;
    count += page.count;
    next = page.next;
    if (next === null) walk.extent = "whole";
    else if (count >= maxRemembered || pages >= maxPages) walk.extent = "bound";
    if (isEnough(walk, request)) break;
  }
  return walk;
}

/** Known releases beyond the pages whose tag has another commit than is stored: moved, or not resolved before. */
function movedBeyond(walk: Walk, request: ListRequest, commits: ReadonlyMap<string, string>): readonly string[] {
  const isBeyond = (tag: string) => !walk.listed.has(tag) && walk.remembered.get(tag)?.standing !== "missing";
  const isMoved = (tag: string, known: KnownRelease | undefined) =>
    known !== undefined && isBeyond(tag) && commits.has(tag) && commits.get(tag) !== known.revision;
  const watched = request.watch.filter((tag) => isMoved(tag, request.known.get(tag)));
  const unresolved = [...request.known].filter(([tag, known]) => known.revision === null && isMoved(tag, known));
  return [...new Set([...watched, ...unresolved.map(([tag]) => tag)])].slice(0, maxLookups);
}

/**
 * Whether an earlier check did not read as far as a release. Its publish time shows this, if it has one and the times differ; otherwise its
 * place behind everything remembered that is still listed.
 */
function isBeyondMemory({ memory, listed, remembered }: Walk): (release: UpstreamRelease) => boolean {
  if (memory === null || memory.extent === "whole" || memory.entries.length === 0) return () => false;
  const times = memory.entries.flatMap(({ tag, published_at }) => published_at ?? listed.get(tag)?.published_at ?? []);
  const earliest = Math.min(...times);
  const tags = [...listed.keys()];
  const last = tags.findLastIndex((tag) => {
    const before = remembered.get(tag);
    return before !== undefined && isListed(before);
  });
  const reached = new Set(tags.slice(0, last + 1));
  return ({ tag, published_at }) =>
    published_at === null || times.length === 0 || published_at === earliest
      ? !reached.has(tag)
      : published_at < earliest;
}

/** Whether upstream got a release after the previous check. A pre-release that became a release is new as such. */
function hasAppeared(release: UpstreamRelease, { remembered }: Walk, isBeyond: ReturnType<typeof isBeyondMemory>) {
  const before = remembered.get(release.tag);
  if (before !== undefined) return before.stage === "prerelease" && release.stage === "release";
  // This check only read further.
  return !isBeyond(release);
}

/** What is returned: the newest of each channel, what is watched, and what was requested by name. */
function choose(walk: Walk, request: ListRequest, named: readonly UpstreamRelease[]): readonly UpstreamRelease[] {
  const newest = newestFirst([...walk.listed.values()]);
  const chosen = new Set(request.watch);
  for (const accept of request.accepts) {
    const accepted = newest.filter(({ tag, stage }) => accept(tag, stage));
    for (const { tag } of accepted.slice(0, request.limit)) chosen.add(tag);
  }
  const beyond = named.filter(({ tag }) => !walk.listed.has(tag));
  return newestFirst([...newest.filter(({ tag }) => chosen.has(tag)), ...beyond]);
}

/** `missing` are known releases that were requested by name and do not exist. */
function remember(forge: ForgeList, walk: Walk, request: ListRequest, missing: ReadonlySet<string>): Memo {
  const { entries: all, extent } = outlook(walk);
  const entries = all.filter(({ tag }) => !missing.has(tag));
  const places = new Set(placesOf(request, { entries, extent }));
  const isPlaced = (entry: Remembered) => places.has(entry) && walk.listed.has(entry.tag);
  const others = new Map<string, Remembered>();
  for (const entry of walk.memory?.entries ?? []) {
    others.set(entry.tag, isListed(entry) ? { ...entry, standing: "gone" } : entry);
  }
  for (const tag of missing) {
    others.set(tag, { stage: "release", published_at: null, ...others.get(tag), tag, standing: "missing" });
  }
  for (const { tag } of entries) others.delete(tag);
  return {
    list: forge.list,
    entries: [
      ...entries.map((entry) => (isPlaced(entry) ? { ...entry, standing: "placed" as const } : entry)),
      ...others.values(),
    ],
    extent,
    total: walk.total,
    question: questionOf(request),
  };
}

/**
 * The releases or tags of a repository. If nothing changed, only the newest page is read, because an earlier check returned what lies
 * beyond it.
 */
export async function listIncrementally(forge: ForgeList, request: ListRequest): Promise<Listing> {
  const nothing = { releases: [], total: 0, memo: request.memo };
  const memo = parseMemo(request.memo);
  if (forge.list === "tags" && hadReleases(memo)) return nothing;
  const walk = await walkPages(forge, request, recall(memo, request, forge.list));
  if (walk.listed.size === 0 && (walk.total ?? 0) === 0) return nothing;
  const commits = (await forge.commits?.list()) ?? new Map<string, string>();
  const named = [...walk.named];
  const missing = new Set<string>();
  for (const tag of movedBeyond(walk, request, commits)) {
    const release = (await forge.commits?.find(tag)) ?? null;
    if (release === null) missing.add(tag);
    else named.push(release);
  }
  const isBeyond = isBeyondMemory(walk);
  const toRelease = (release: UpstreamRelease): UpstreamRelease => {
    const facts = { ...release, revision: commits.get(release.tag) ?? release.revision };
    const isJudged = walk.memory !== null && !request.known.has(release.tag);
    return isJudged ? { ...facts, appeared: hasAppeared(release, walk, isBeyond) } : facts;
  };
  const memory = remember(forge, walk, request, missing);
  const known = memory.entries.filter(isListed);
  return {
    releases: choose(walk, request, named).map(toRelease),
    total: Math.max(walk.total ?? known.length, walk.listed.size),
    memo: formatMemo(memory),
  };
}
