import * as v from "valibot";
import { orderTags } from "../../versions/order.ts";
import { acceptedOf } from "../accepted.ts";
import type { Listing, ListRequest, UpstreamRelease } from "../source.ts";
import { hadReleases, parseMemo as parseListMemo } from "./memo.ts";

/** The form of the memory between checks. */
const memoForm = "git-tags-1";
/** Of the remembered names as UTF-8; a memory may have 2 MiB. The lowest names are dropped first. */
const maxBytes = 1_500_000;

/** Forms of earlier versions: GitHub's, which only has another name, and Gitea's. */
const earlierForm = "github-tags-1";
const EarlierJson = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ form: v.literal("gitea-tags-1"), names: v.array(v.string()) }),
);

/** The names that an earlier check listed; null if there was none. Tags have no spaces. */
function parseMemo(memo: string | null): ReadonlySet<string> | null {
  const [form, ...names] = memo?.split(" ") ?? [];
  if (form === memoForm || form === earlierForm) return new Set(names);
  const earlier = v.safeParse(EarlierJson, memo);
  return earlier.success ? new Set(earlier.output.names) : null;
}

/** Keeps what is listed now, then what was listed before: a tag that was missing for a while is not announced again. */
function formatMemo(ordered: readonly string[], before: ReadonlySet<string> | null): string {
  const words = [memoForm];
  let bytes = memoForm.length;
  for (const name of new Set([...ordered, ...(before ?? [])])) {
    bytes += Buffer.byteLength(name) + 1;
    if (bytes > maxBytes) break;
    words.push(name);
  }
  return words.join(" ");
}

/**
 * The tags of a repository without releases. Git does not report when they were made, so they have no publish time. New tags come
 * first, then the highest.
 */
export async function listGitTags(
  request: ListRequest,
  commits: ReadonlyMap<string, string>,
  pageOf: (tag: string) => string | null,
): Promise<Listing> {
  if (hadReleases(parseListMemo(request.memo))) return { releases: [], total: 0, memo: request.memo };
  const before = parseMemo(request.memo);
  const ordered = orderTags([...commits.keys()]);
  const isNew = (tag: string) => before !== null && !before.has(tag) && !request.known.has(tag);
  const shown = new Set(request.watch);
  for (const accept of request.accepts) {
    const accepted = await acceptedOf(ordered, (tag) => accept(tag, "tag"));
    const leading = new Set([...accepted.filter(isNew), ...accepted]);
    for (const tag of [...leading].slice(0, request.limit)) shown.add(tag);
  }
  const toRelease = (tag: string): UpstreamRelease => ({
    version: tag,
    tag,
    stage: "tag",
    published_at: null,
    revision: commits.get(tag) ?? null,
    url: pageOf(tag),
    notes: null,
    ...(before === null || request.known.has(tag) ? {} : { appeared: isNew(tag) }),
  });
  return {
    releases: ordered.filter((tag) => shown.has(tag)).map(toRelease),
    total: ordered.length,
    memo: formatMemo(ordered, before),
  };
}
