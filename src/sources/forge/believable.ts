/** Longer names match no pattern and are not stored, so they must not be waited for either. */
const maxTagCharacters = 256;
const maxLinkCharacters = 2_048;
/** Earlier than any forge: a date that a broken tool wrote into a commit, or a placeholder that a migration left behind. */
const earliestPublishTime = 946_684_800_000;

/** A name that git allows for a tag and that is short enough to be stored. */
export function isUsableTag(tag: string): boolean {
  if (tag === "" || tag.length > maxTagCharacters) return false;
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\uFFFD ~^:?*[\\]|\.\.|@\{|\/\//u.test(tag)) return false;
  return !/^[/-]|[/.]$|\.lock$/.test(tag);
}

/** The SHA-1 or SHA-256 name of a commit. */
export function isObjectId(text: unknown): text is string {
  return typeof text === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** A publish time that can be meant, or null. Milliseconds UTC. */
export function believable(instant: number | null): number | null {
  return instant !== null && instant >= earliestPublishTime ? instant : null;
}

/** An address that may become a link, or null. */
export function linkOf(text: string | null | undefined): string | null {
  if (text === null || text === undefined || text.length > maxLinkCharacters || !URL.canParse(text)) return null;
  return ["http:", "https:"].includes(new URL(text).protocol) ? text : null;
}
