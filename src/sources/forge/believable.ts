/** Longer names match no pattern and are not stored. */
const maxTagCharacters = 256;
const maxLinkCharacters = 2_048;
/** Earlier than any forge: an earlier date comes from a broken tool, or is a placeholder of a migration. */
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

/** A plausible publish time, or null. Milliseconds UTC. */
export function believable(instant: number | null): number | null {
  return instant !== null && instant >= earliestPublishTime ? instant : null;
}

/** An address that is safe as a link, or null. */
export function linkOf(text: string | null | undefined): string | null {
  if (text === null || text === undefined || text.length > maxLinkCharacters || !URL.canParse(text)) return null;
  return ["http:", "https:"].includes(new URL(text).protocol) ? text : null;
}
