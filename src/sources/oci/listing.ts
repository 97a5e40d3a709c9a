import type { PluginContext } from "../../plugin.ts";
import { orderTags } from "../../versions/order.ts";
import { acceptedOf } from "../accepted.ts";
import { sharePlaces } from "../places.ts";
import type { ImageSize, KnownRelease, Listing, ListRequest, UpstreamRelease } from "../source.ts";
import { highestAccepted, highestTags } from "./highest-tags.ts";
import type { ImageLabels } from "./image-labels.ts";
import { lookUpEach, nextInTurn } from "./lookups.ts";
import type { ManifestReader } from "./manifest.ts";
import { type Repository, tagPage } from "./repository.ts";

/** Of remembered names that are no longer listed; the oldest are dropped first. */
const maxAbsentCharacters = 64 * 1024;
/** The form of the memory between checks. */
const memoForm = "oci-tags-1";

/** What a check remembers. Tags have no spaces or commas, so 10,000 of them are compared as one text. */
interface Memo {
  /** Every tag that was listed. */
  listed: string;
  /** Tags that are no longer listed: one that was missing for a while is not announced again. */
  absent: string;
  /** The tag whose missing digest was last requested again. */
  repaired: string;
}

function parseMemo(text: string | null): Memo | null {
  const [form, repaired = "", listed = "", absent = ""] = text?.split(" ", 4) ?? [];
  return form === memoForm ? { listed, absent, repaired } : null;
}

function formatMemo({ listed, absent, repaired }: Memo): string {
  return [memoForm, repaired, listed, absent].join(" ");
}

function namesOf(joined: string): readonly string[] {
  return joined === "" ? [] : joined.split(",");
}

/** The memory after this listing. */
function remember(memo: Memo | null, list: readonly string[], repaired: string | null): Memo {
  const listed = list.join(",");
  const next = { listed, absent: memo?.absent ?? "", repaired: repaired ?? memo?.repaired ?? "" };
  if (memo === null || memo.listed === listed) return next;
  const present = new Set(list);
  const gone = [...namesOf(memo.absent), ...namesOf(memo.listed)].filter((tag) => !present.has(tag)).join(",");
  const cut = gone.length <= maxAbsentCharacters ? 0 : gone.indexOf(",", gone.length - maxAbsentCharacters) + 1;
  return { ...next, absent: gone.slice(cut) };
}

/** Tags that were never listed before; null on a first check. */
function appearedTags(memo: Memo | null, list: readonly string[]): ReadonlySet<string> | null {
  if (memo === null) return null;
  if (memo.listed === list.join(",")) return new Set();
  const seen = new Set([...namesOf(memo.listed), ...namesOf(memo.absent)]);
  return new Set(list.filter((tag) => !seen.has(tag)));
}

/** The known tag without a digest that this check looks up again. */
function tagToRepair(memo: Memo | null, present: ReadonlySet<string>, request: ListRequest): string | null {
  const isBroken = (tag: string) => request.known.get(tag)?.revision === null && present.has(tag);
  const broken = [...request.known.keys()].filter((tag) => isBroken(tag) && !request.watch.includes(tag));
  return nextInTurn(broken, memo?.repaired ?? "");
}

/**
 * The tags that a check returns: the watched ones, the one to repair, then for each channel up to `limit` of the new and the highest
 * ones. New tags come first, so that a patch of an old line is seen below many higher tags.
 */
async function select(
  appeared: ReadonlySet<string>,
  list: readonly string[],
  request: ListRequest,
  repaired: string | null,
) {
  const present = new Set(list);
  const leading = await (appeared.size === 0 ? highestAccepted(list, request) : leadingWith(appeared, list, request));
  const watched = request.watch.filter((tag) => present.has(tag));
  return [...new Set([...watched, ...(repaired === null ? [] : [repaired]), ...leading])];
}

async function leadingWith(
  appeared: ReadonlySet<string>,
  list: readonly string[],
  request: ListRequest,
): Promise<readonly string[]> {
  const groups: (readonly string[])[] = [];
  for (const accept of request.accepts) {
    const accepted = await acceptedOf(list, (tag) => accept(tag, "tag"));
    const fresh = accepted.filter((tag) => appeared.has(tag) && !request.known.has(tag));
    groups.push([...new Set([...orderTags(fresh), ...highestTags(accepted, request.limit)])]);
  }
  return sharePlaces(groups, request.limit, request.most_each);
}

/** What is known of a tag after this check; with labels if its image was read. */
interface Looked extends KnownRelease {
  labels?: ImageLabels | null;
  size?: ImageSize | null;
}

interface ListingParts {
  repository: Repository;
  context: PluginContext;
  reader: ManifestReader;
  readsBuildTimes: boolean;
}

/**
 * Turns a tag list into releases. A known tag costs nothing, a watched one a `HEAD`; a new tag or a new build costs its digest and, if
 * build times are read, its config. One known tag without a digest is looked up again, in rotation. A failed lookup keeps the tag with
 * what is known of it.
 */
export async function listReleases(
  parts: ListingParts,
  request: ListRequest,
  list: readonly string[],
): Promise<Listing> {
  const memo = parseMemo(request.memo);
  const repaired = tagToRepair(memo, new Set(list), request);
  const appeared = appearedTags(memo, list);
  const tags = await select(appeared ?? new Set(), list, request, repaired);
  const watched = new Set(request.watch);
  const found = new Map<string, Looked>();

  const look = async (tag: string) => {
    const known = request.known.get(tag);
    const looked: Looked = { revision: known?.revision ?? null, published_at: known?.published_at ?? null };
    found.set(tag, looked);
    if (known !== undefined || !parts.readsBuildTimes) {
      looked.revision = await parts.reader.findDigest(tag);
      if (!parts.readsBuildTimes || looked.revision === known?.revision) return;
    }
    const top = await parts.reader.readManifest(looked.revision ?? tag);
    looked.revision = top.digest;
    // For an image without the wanted platform, the first attempt sends nothing.
    const wanted = request.platform ?? null;
    const image =
      (await parts.reader.readImage(top, wanted)) ?? (wanted === null ? null : await parts.reader.readImage(top, null));
    // A new build of a known tag does not make the version newer.
    looked.published_at ??= image?.created_at ?? null;
    looked.labels = image;
    looked.size = image?.size ?? null;
  };
  const asked = tags.filter((tag) => watched.has(tag) || !request.known.has(tag) || tag === repaired);
  await lookUpEach(asked, parts.context.signal, look);

  const releases = tags.map((tag): UpstreamRelease => {
    const looked: Looked = found.get(tag) ?? request.known.get(tag) ?? { revision: null, published_at: null };
    const { revision, published_at, labels, size } = looked;
    return {
      version: tag,
      tag,
      stage: "tag",
      published_at,
      revision,
      url: tagPage(parts.repository, tag),
      notes: null,
      ...(labels?.source_revision ? { source_revision: labels.source_revision } : {}),
      ...(labels?.labelled_version ? { labelled_version: labels.labelled_version } : {}),
      ...(size ? { size } : {}),
      ...(appeared === null || request.known.has(tag) ? {} : { appeared: appeared.has(tag) }),
    };
  });
  return {
    releases,
    total: list.length,
    memo: formatMemo(remember(memo, list, repaired)),
  };
}
