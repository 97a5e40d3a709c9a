import { sharePlaces } from "../../sources/places.ts";
import type { Listing, ListRequest } from "../../sources/source.ts";

/** The part of a listing that counts. */
export interface Placed {
  listing: Listing;
  /** Tags within the fetch depth, besides those requested by name. */
  placed: ReadonlySet<string>;
}

/**
 * Drops new releases beyond the fetch depth; known releases and those requested by name do not count. Releases requested by name are kept
 * anyway, so they leave less room for the others, unless upstream just published them.
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
