import type { Accept, KnownRelease, Listing, ListRequest, UpstreamRelease } from "../source.ts";
import { type GiteaApi, maxPageSize, type ReleasePage } from "./api.ts";
import type { Found } from "./found.ts";
import { formatReleaseMemo, maxRemembered, parseReleaseMemo, type ReleaseMemo, type Remembered } from "./memo.ts";

/** Pages that one check reads at most. */
const maxPages = maxRemembered / maxPageSize;
/** Releases beyond the pages that were read which are asked for one by one in a check; the rest of them in the next ones. */
const maxLookups = 5;

/** The newest part of the list, read page by page until every channel has its places. */
interface Window {
  found: Map<string, Found>;
  /** Entries of all kinds on the pages that were read. */
  count: number;
  pages: number;
  total: number | null;
  /** What an earlier check left of the part that was not read; null where it cannot be relied on. */
  rest: ReadonlyMap<string, Remembered> | null;
  has_ended: boolean;
}

/** Every page comes whole, for the forge has no validators: in steady state a short one is enough. */
function pageSizeFor(request: ListRequest, memory: ReleaseMemo | null): number {
  return memory === null ? maxPageSize : Math.min(Math.max(request.limit * 2, 20), maxPageSize);
}

/**
 * The remembered part beyond the pages, when these reach it and the forge's count says that nothing in it has come or gone
 * since: a deleted release, and one whose time was set back, are found by reading on. A forge that does not count is believed, for
 * else each check would read everything again.
 */
function restOf(window: Window, memory: ReleaseMemo | null, limit: number): Window["rest"] {
  if (memory === null || memory.limit !== limit || (memory.total === null) !== (window.total === null)) return null;
  const isNew = (tag: string) => !memory.seen.has(tag);
  const tags = [...window.found.keys()];
  const fresh = tags.filter(isNew).length;
  if (fresh === tags.length) return null;
  if (window.total !== null && memory.total !== null && window.total - memory.total !== fresh) return null;
  return new Map([...memory.seen].filter(([tag]) => !window.found.has(tag)));
}

/** Whether another page would give a channel something that is neither listed nor was handed over. */
function lacks(accept: Accept, window: Window, request: ListRequest, memory: ReleaseMemo | null): boolean {
  let have = 0;
  for (const { tag, stage } of window.found.values()) if (accept(tag, stage)) have += 1;
  if (have >= request.limit || window.has_ended) return false;
  if (window.rest === null) return true;
  for (const [tag, { stage, was_returned }] of window.rest) {
    if (have >= request.limit) return false;
    if (!accept(tag, stage)) continue;
    if (!was_returned && !request.known.has(tag)) return true;
    have += 1;
  }
  return have < request.limit && memory?.is_exhausted !== true;
}

function addPage(window: Window, { found, count, total }: ReleasePage): void {
  window.pages += 1;
  window.count += count;
  window.total = total;
  // The list moves on while its pages are read: what was on one page can be on the next again.
  for (const release of found) if (!window.found.has(release.tag)) window.found.set(release.tag, release);
  window.has_ended = count === 0 || (total !== null && window.count >= total);
}

async function readWindow(api: GiteaApi, request: ListRequest, memory: ReleaseMemo | null): Promise<Window> {
  const window: Window = { found: new Map(), count: 0, pages: 0, total: null, rest: null, has_ended: false };
  const size = pageSizeFor(request, memory);
  const isEnough = () => !request.accepts.some((accept) => lacks(accept, window, request, memory));
  do {
    addPage(window, await api.listPage(window.pages + 1, size));
    window.rest = restOf(window, memory, request.limit);
  } while (!window.has_ended && window.pages < maxPages && !isEnough());
  return window;
}

function byPublishTime(a: Found, b: Found): number {
  return (b.published_at ?? 0) - (a.published_at ?? 0);
}

/** What is shown of the pages: what is watched, and for each channel its first ones. */
function select(window: Window, request: ListRequest): Set<string> {
  const newest = [...window.found.values()].toSorted(byPublishTime);
  const tags = new Set(request.watch.filter((tag) => window.found.has(tag)));
  for (const accept of request.accepts) {
    const accepted = newest.filter(({ tag, stage }) => accept(tag, stage));
    for (const { tag } of accepted.slice(0, request.limit)) tags.add(tag);
  }
  return tags;
}

/** Whether the forge got it after the previous check; null when nobody can tell. */
function hasAppeared(release: Found, memory: ReleaseMemo | null): boolean | null {
  if (memory === null) return null;
  const before = memory.seen.get(release.tag);
  if (before !== undefined) return before.stage === "prerelease" && release.stage === "release";
  // Older than all that was read before: it came in because this check reads further.
  const { oldest, is_whole } = memory;
  return is_whole || oldest === null || release.published_at === null || release.published_at >= oldest;
}

/** Known releases beyond the pages whose tag has another commit than is stored: moved, or not resolved before. */
function movedBeyond(window: Window, request: ListRequest, commits: ReadonlyMap<string, string>): readonly string[] {
  const isMoved = (tag: string, known: KnownRelease | undefined) =>
    known !== undefined && !window.found.has(tag) && commits.has(tag) && commits.get(tag) !== known.revision;
  const watched = request.watch.filter((tag) => isMoved(tag, request.known.get(tag)));
  const unresolved = [...request.known]
    .filter(([tag, known]) => known.revision === null && isMoved(tag, known))
    .map(([tag]) => tag);
  return [...new Set([...watched, ...unresolved])].slice(0, maxLookups);
}

function remember(window: Window, request: ListRequest, memory: ReleaseMemo | null, shown: ReadonlySet<string>) {
  const seen = new Map<string, Remembered>();
  for (const { tag, stage } of window.found.values()) {
    const was_returned = shown.has(tag) || (memory?.seen.get(tag)?.was_returned ?? false);
    seen.set(tag, { stage, was_returned });
  }
  for (const [tag, before] of window.rest ?? []) seen.set(tag, before);
  const times = [...window.found.values()].flatMap(({ published_at }) => published_at ?? []);
  const before = window.rest === null ? null : memory;
  if (before !== null && before.oldest !== null) times.push(before.oldest);
  const oldest = times.length === 0 ? null : Math.min(...times);
  const is_whole = window.has_ended || before?.is_whole === true;
  const is_exhausted = is_whole || window.pages >= maxPages || before?.is_exhausted === true;
  return formatReleaseMemo({ seen, total: window.total, limit: request.limit, oldest, is_whole, is_exhausted });
}

/**
 * The releases under a request, each with the commit of its tag. An unchanged list costs two requests: its newest page and the
 * tags' commits, for what lies beyond was handed over by an earlier check.
 */
export async function listReleases(api: GiteaApi, request: ListRequest): Promise<Listing> {
  const memory = parseReleaseMemo(request.memo);
  const window = await readWindow(api, request, memory);
  const commits = window.count === 0 ? new Map<string, string>() : await api.listCommits();
  const shown = select(window, request);

  const toRelease = (release: Found): UpstreamRelease => {
    const appeared = request.known.has(release.tag) ? null : hasAppeared(release, memory);
    const facts = { version: release.tag, ...release, revision: commits.get(release.tag) ?? null };
    return appeared === null ? facts : { ...facts, appeared };
  };
  const releases = [...window.found.values()].filter(({ tag }) => shown.has(tag)).map(toRelease);
  for (const tag of movedBeyond(window, request, commits)) {
    const release = await api.findRelease(tag);
    if (release !== null) releases.push(toRelease(release));
  }
  return {
    releases: releases.toSorted((a, b) => (b.published_at ?? 0) - (a.published_at ?? 0)),
    // Without the forge's count what is remembered stands for the rest; an empty page has no rest.
    total: window.total ?? (window.count === 0 ? 0 : Math.max(window.count, memory?.seen.size ?? 0)),
    memo: remember(window, request, memory, shown),
    moved_to: api.movedTo(),
  };
}
