import { isUsableTag } from "./believable.ts";

/**
 * A tag as the end of a page's path, each name encoded and slashes kept; null for one that git does not allow, or that a browser would
 * resolve to another page.
 */
export function tagPath(tag: string): string | null {
  const names = tag.split("/");
  return isUsableTag(tag) && !names.includes(".") ? names.map(encodeURIComponent).join("/") : null;
}

/** Two tags as the range of a comparison; null if one of them has no path. */
export function tagRange(from: string, to: string): string | null {
  const [start, end] = [tagPath(from), tagPath(to)];
  return start === null || end === null ? null : `${start}...${end}`;
}

/** The address with the path added; null without one. */
export function pageAt(address: string, path: string | null): string | null {
  return path === null ? null : `${address}/${path}`;
}
