import type { Draft, Reading, Skipped } from "./draft.ts";
import { imageDraft } from "./image.ts";

/** One image reference a line; blank lines and `#` comments are passed over, as are list dashes and quotes. */
export function readImageList(text: string): Reading {
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  for (const [position, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const reference = raw
      .replace(/\s#.*$/, "")
      .trim()
      .replace(/^-\s+/, "")
      .replace(/^(["'])(.*)\1$/, "$2");
    if (reference === "" || reference.startsWith("#")) continue;
    const found = imageDraft(reference, `line ${position + 1}`);
    if ("reason" in found) skipped.push(found);
    else drafts.push(found);
  }
  return { drafts, skipped };
}
