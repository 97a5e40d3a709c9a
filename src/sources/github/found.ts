import type { ReleaseStage } from "../source.ts";

/** A release or bare tag as it was read. Drafts and releases without a publish time never become one. */
export interface Found {
  tag: string;
  stage: ReleaseStage;
  /** Milliseconds UTC; null only for bare tags. */
  published_at: number | null;
  revision: string | null;
  url: string | null;
  notes: string | null;
}

export interface FoundPage {
  found: readonly Found[];
  hasMore: boolean;
}

/** Longer names match no pattern and are not stored, so they must not be waited for either. */
const maxTagCharacters = 256;
/** Earlier than any forge: a date that a broken tool wrote into a commit. */
const earliestPublishTime = 946_684_800_000;

/** What counts as a name: what git itself allows in a ref, and short enough to be stored. */
export function isUsableTag(tag: string): boolean {
  return tag !== "" && tag.length <= maxTagCharacters && !/[\p{Cc}\p{Cs}\uFFFD ~^:?*[\\]/u.test(tag);
}

/** A publish time that can be meant, or null. */
export function believable(instant: number | null): number | null {
  return instant !== null && instant >= earliestPublishTime ? instant : null;
}

/** An address that may become a link. */
export function linkOf(text: string): string | null {
  if (text.length > 2_048 || !URL.canParse(text)) return null;
  return ["http:", "https:"].includes(new URL(text).protocol) ? text : null;
}

export function isObjectId(text: unknown): text is string {
  return typeof text === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Where a person sees a bare tag; `web` is the repository's page. */
export function tagPage(web: string, tag: string): string {
  return `${web}/releases/tag/${tag.split("/").map(encodeURIComponent).join("/")}`;
}
