import { PluginError } from "../../errors.ts";
import type { PluginContext } from "../../plugin.ts";
import type { KnownRelease, Listing, ListRequest, UpstreamRelease } from "../source.ts";
import type { ManifestReader } from "./manifest.ts";
import { type Repository, tagPage } from "./repository.ts";

/** Lookups of one check side by side: enough to hide latency, few enough for a small registry. */
const lookupsAtOnce = 4;
/** The form of the memory between checks; another number means that nothing is remembered. */
const memoForm = "oci-tags-1";

/** What a check remembers: every tag that was there, and whose missing digest was last asked for again. */
interface Memo {
  names: string;
  repaired: string;
}

function parseMemo(text: string | null): Memo | null {
  const [form, repaired = "", names = ""] = text?.split(" ", 3) ?? [];
  return form === memoForm ? { repaired, names } : null;
}

// Tags have neither blanks nor commas, so names are joined and not quoted: comparing 10,000 of them is comparing one text.
function formatMemo({ repaired, names }: Memo): string {
  return `${memoForm} ${repaired} ${names}`;
}

/** Failures after which the next lookup would fail the same way, and would only make it worse. */
function endsLookups(error: unknown): boolean {
  return error instanceof PluginError && ["rate_limited", "unauthorized", "unreachable"].includes(error.code);
}

interface Selection {
  tags: readonly string[];
  /** The one known tag without a digest that is asked again this time. */
  repaired: string | null;
}

/**
 * The tags that a check returns: those watched, then up to `limit` of the newly appeared and the highest ones, the new first, so
 * that a patch of an old line is seen although many higher tags exist.
 */
function select(
  request: ListRequest,
  list: readonly string[],
  memo: Memo | null,
  order: (tags: readonly string[]) => string[],
): Selection {
  const present = new Set(list);
  const names = list.join(",");
  const seen = memo === null || memo.names === names ? null : new Set(memo.names.split(","));
  const accepted = list.filter((tag) => request.accept(tag));
  const appeared = seen === null ? [] : accepted.filter((tag) => !seen.has(tag) && !request.known.has(tag));
  const leading = new Set([...order(appeared).slice(0, request.limit), ...order(accepted).slice(0, request.limit)]);
  const tags = new Set([...request.watch.filter((tag) => present.has(tag)), ...[...leading].slice(0, request.limit)]);
  const broken = [...tags]
    .filter((tag) => request.known.get(tag)?.revision === null && !request.watch.includes(tag))
    .toSorted();
  const repaired = broken.find((tag) => tag > (memo?.repaired ?? "")) ?? broken[0] ?? null;
  return { tags: [...tags], repaired };
}

async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}

interface ListingParts {
  repository: Repository;
  context: PluginContext;
  reader: ManifestReader;
  readsBuildTimes: boolean;
  order(tags: readonly string[]): string[];
}

/**
 * Turns a tag list into releases. A known tag costs nothing; a watched one costs a `HEAD`; a new one its digest and, where build
 * times are read, its config; and one known tag without a digest is asked again, in rotation. A lookup that fails keeps the tag
 * with what is known of it.
 */
export async function listReleases(
  parts: ListingParts,
  request: ListRequest,
  list: readonly string[],
): Promise<Listing> {
  const memo = parseMemo(request.memo);
  const { tags, repaired } = select(request, list, memo, parts.order);
  const watched = new Set(request.watch);
  const found = new Map<string, KnownRelease>();
  let isStopped = false;

  const tolerate = (error: unknown) => {
    if (parts.context.signal.aborted || !(error instanceof PluginError)) throw error;
    isStopped ||= endsLookups(error);
  };
  const look = async (tag: string) => {
    const known = request.known.get(tag);
    let { revision, published_at } = known ?? { revision: null, published_at: null };
    const keep = () => found.set(tag, { revision, published_at });
    keep();
    if (isStopped) return;
    try {
      if (known !== undefined || !parts.readsBuildTimes) {
        revision = await parts.reader.findDigest(tag);
      } else {
        const top = await parts.reader.readManifest(tag);
        revision = top.digest;
        published_at = (await parts.reader.readImage(top, null))?.created_at ?? null;
      }
    } catch (error) {
      tolerate(error);
    }
    keep();
  };
  const asked = tags.filter((tag) => watched.has(tag) || !request.known.has(tag) || tag === repaired);
  await inParallel(asked, lookupsAtOnce, look);

  const releases = tags.map((tag): UpstreamRelease => {
    const { revision, published_at } = found.get(tag) ??
      request.known.get(tag) ?? { revision: null, published_at: null };
    return {
      version: tag,
      tag,
      stage: "tag",
      published_at,
      revision,
      url: tagPage(parts.repository, tag),
      notes: null,
    };
  });
  return {
    releases,
    total: list.length,
    memo: formatMemo({ repaired: repaired ?? memo?.repaired ?? "", names: list.join(",") }),
  };
}
