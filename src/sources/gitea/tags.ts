import { orderTags } from "../../versions/order.ts";
import { acceptedOf } from "../accepted.ts";
import { isUsableTag } from "../forge/believable.ts";
import type { Listing, ListRequest, UpstreamRelease } from "../source.ts";
import type { GiteaApi } from "./api.ts";
import { formatTagMemo, parseTagMemo } from "./memo.ts";

/** Every tag that can be stored. */
export async function listNames(api: GiteaApi): Promise<readonly string[]> {
  return [...(await api.listCommits()).keys()].filter(isUsableTag);
}

/**
 * Bare tags with their commits, for a repository without releases, at the cost of one request. Git does not say when a tag was
 * made, so they have no publish time; the highest come first, and before them those that were not listed before.
 */
export async function listTags(api: GiteaApi, request: ListRequest): Promise<Listing> {
  const commits = await api.listCommits();
  const before = parseTagMemo(request.memo);
  const ordered = orderTags(await listNames(api));
  const isNew = (tag: string) => before !== null && !before.has(tag) && !request.known.has(tag);
  const shown = new Set(request.watch.filter((tag) => commits.has(tag)));
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
    url: api.tagPage(tag),
    notes: null,
    ...(before === null || request.known.has(tag) ? {} : { appeared: !before.has(tag) }),
  });
  return {
    releases: ordered.filter((tag) => shown.has(tag)).map(toRelease),
    total: ordered.length,
    memo: formatTagMemo(ordered, before),
    moved_to: api.movedTo(),
  };
}
