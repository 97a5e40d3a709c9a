import { valuesOf } from "../../forms/fields.ts";
import { isObject } from "../../strict-json.ts";
import { isTrue, itemsOf, textOf } from "./document.ts";
import { anyOf, type Draft, type Reading, type Skipped } from "./draft.ts";
import { imageDraft } from "./image.ts";

/** Whether a document is for Diun's file provider: a list of entries with the name of an image. */
export function isDiun(document: unknown): boolean {
  const entries = itemsOf(document);
  return (
    entries.length > 0 && entries.every((entry) => isObject(entry) && textOf(entry.name) !== null && !isTracker(entry))
  );
}

function isTracker(entry: unknown): boolean {
  return "sources" in valuesOf(entry) || "channels" in valuesOf(entry);
}

/** The images of Diun's file provider, with their tag patterns. */
export function readDiun(document: unknown): Reading {
  const drafts: Draft[] = [];
  const skipped: Skipped[] = [];
  for (const [position, entry] of itemsOf(document).entries()) {
    const { name, include_tags, exclude_tags, regopt, watch_repo } = valuesOf(entry);
    const patterns = (list: unknown) => itemsOf(list).flatMap((pattern) => textOf(pattern) ?? []);
    // Diun applies these only when it watches the whole repository; without them it takes every tag.
    const rules = {
      include_pattern: isTrue(watch_repo) ? anyOf(patterns(include_tags)) : "",
      exclude_pattern: isTrue(watch_repo) ? anyOf(patterns(exclude_tags)) : "",
    };
    const reference = textOf(name) ?? "";
    const found = imageDraft(reference, `[${position}]`, { rules, untagged: isTrue(watch_repo) ? null : "latest" });
    if ("reason" in found) skipped.push(found);
    else {
      const registry = textOf(regopt);
      const remarks = registry === null ? [] : [{ code: "credential_missing" as const, subject: registry }];
      drafts.push({ ...found, remarks: [...found.remarks, ...remarks] });
    }
  }
  return { drafts, skipped };
}
