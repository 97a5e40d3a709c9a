import { orderTags } from "../../versions/order.ts";
import { acceptedOf } from "../accepted.ts";
import { isUsableTag } from "../forge/believable.ts";
import type { Listing, ListRequest, UpstreamRelease } from "../source.ts";
import { tagPage } from "./found.ts";

/** The form of this memory between checks; another name means that nothing is remembered. */
const memoForm = "github-tags-1";
/** Of the remembered names together: half of what a memory may have, for names of more than one byte. */
const maxCharacters = 1_000_000;

/** No name of a tag has a blank. */
function rememberedTags(memo: string | null): ReadonlySet<string> | null {
  const [form, ...names] = memo?.split(" ") ?? [];
  return form === memoForm ? new Set(names) : null;
}

/**
 * The tags of a repository that makes no releases, by name and commit alone: git does not say when they were made, so the first
 * observation counts. For each of `accepts` the newly appeared ones and then the highest, up to `limit`, and those that are watched.
 */
export async function listBareTags(
  request: ListRequest,
  commits: ReadonlyMap<string, string>,
  page: string,
): Promise<Listing> {
  const names = [...commits.keys()].filter(isUsableTag);
  const before = rememberedTags(request.memo);
  const isNew = (tag: string) => before !== null && !before.has(tag);
  const watched = request.watch.filter((tag) => commits.has(tag));
  const chosen: string[] = [];
  for (const accept of request.accepts) {
    const accepted = orderTags(await acceptedOf(names, (tag) => accept(tag, "tag")));
    const fresh = accepted.filter((tag) => isNew(tag) && !request.known.has(tag));
    chosen.push(...[...new Set([...fresh, ...accepted])].slice(0, request.limit));
  }
  const releases = [...new Set([...watched, ...chosen])].map(
    (tag): UpstreamRelease => ({
      version: tag,
      tag,
      stage: "tag",
      published_at: null,
      revision: commits.get(tag) ?? null,
      url: tagPage(page, tag),
      notes: null,
      ...(before === null || request.known.has(tag) ? {} : { appeared: isNew(tag) }),
    }),
  );
  const memo = [memoForm, ...names].join(" ");
  return { releases, total: names.length, memo: memo.length > maxCharacters ? null : memo };
}
