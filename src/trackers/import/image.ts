import { classify } from "../../versions/classify.ts";
import { DOCKER_HUB, ImageReferenceError, parseImageReference } from "../../versions/image-reference.ts";
import type { Draft, Remark, Skipped } from "./draft.ts";

/** What labels and lists say beside the reference. */
export interface ImageRules {
  include_pattern: string;
  exclude_pattern: string;
}

const noRules: ImageRules = { include_pattern: "", exclude_pattern: "" };

/**
 * A tracker for one image reference. A tag of a variant (`1.27-alpine`) keeps to that variant by a pattern; without one the
 * product's own judgement picks the line. Says why where there is none to make.
 */
export function imageDraft(reference: string, foundIn: string, rules: ImageRules = noRules): Draft | Skipped {
  const text = reference.trim();
  if (text.includes("$"))
    return { found_in: foundIn, reason: `"${text.slice(0, 200)}" has a variable without a value` };
  const parsed = readReference(text);
  if (parsed instanceof ImageReferenceError) return { found_in: foundIn, reason: parsed.message };
  const { registry, repository, tag, digest } = parsed;
  const remarks: Remark[] = [];
  if (digest !== null) remarks.push({ code: "digest_dropped", subject: digest.slice(0, 19) });
  const include = rules.include_pattern === "" ? variantPattern(tag) : rules.include_pattern;
  if (include !== rules.include_pattern && tag !== null) remarks.push({ code: "variant_kept", subject: tag });
  else if (tag !== null && rules.include_pattern === "" && isLine(tag)) {
    remarks.push({ code: "line_pinned", subject: tag });
  }
  const name = repository.replace(/^library\//, "");
  const image = registry === DOCKER_HUB ? name : `${registry}/${repository}`;
  return {
    name: image,
    found_in: foundIn,
    remarks,
    sources: [
      {
        kind: "oci",
        config: { image },
        channels: [{ type: "stable", include_pattern: include, exclude_pattern: rules.exclude_pattern }],
      },
    ],
  };
}

function readReference(text: string) {
  try {
    return parseImageReference(text);
  } catch (error) {
    if (error instanceof ImageReferenceError) return error;
    throw error;
  }
}

/** A short number names a line that moves: `16` of `16.4`. */
function isLine(tag: string): boolean {
  const parsed = classify(tag);
  return parsed.shape === "version" && parsed.variant === "" && parsed.numbers.length === 1;
}

/** `1.27.3-alpine` gives `^v?\d+(\.\d+)*-alpine$`; "" for a tag without a variant. */
function variantPattern(tag: string | null): string {
  if (tag === null) return "";
  const parsed = classify(tag);
  if (parsed.shape === null || parsed.variant === "" || parsed.prerelease.length > 0) return "";
  const suffix = /^[vV]?\d+(?:\.\d+){0,5}(-[a-z][a-z0-9.-]{0,60})$/.exec(tag)?.[1];
  if (suffix === undefined) return "";
  return String.raw`^v?\d+(\.\d+)*${suffix.replaceAll(".", String.raw`\.`)}$`;
}
