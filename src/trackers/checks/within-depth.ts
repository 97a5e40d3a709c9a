import { sharePlaces } from "../../sources/places.ts";
import type { Listing, ListRequest } from "../../sources/source.ts";

/** What of a listing counts. */
export interface Placed {
  listing: Listing;
  /** Tags with a place within the fetch depth, beside those that were asked for by name. */
  placed: ReadonlySet<string>;
}

/**
 * What is new and has no place within the fetch depth is left out; what is known, or was asked for by name, needs none. What was
 * asked for by name is kept anyway, so it leaves the others fewer places, but for those that upstream has just got.
 */
export function withinDepth(listing: Listing, request: ListRequest): Placed {
  const { accepts, limit, most_each = limit, known } = request;
  const watched = new Set(request.watch);
  const groups = accepts.map((accept) => {
    const members = listing.releases.filter(({ tag, stage }) => accept(tag, stage));
    const others = members.filter(({ tag }) => !watched.has(tag));
    const fresh = others.filter(({ tag, appeared }) => !known.has(tag) && appeared !== false);
    return { others: others.slice(0, Math.max(most_each - (members.length - others.length), 0)), fresh };
  });
  const take = (kind: "others" | "fresh") =>
    sharePlaces(
      groups.map((group) => group[kind]),
      limit,
      most_each,
    ).map(({ tag }) => tag);
  const placed = new Set(take("others"));
  const counted = new Set([...placed, ...take("fresh"), ...known.keys(), ...watched]);
  return { listing: { ...listing, releases: listing.releases.filter(({ tag }) => counted.has(tag)) }, placed };
}
