import { say } from "../../messages/message.ts";
import { proposedSorting } from "../../versions/channel.ts";
import {
  DOCKER_HUB,
  type ImageReference,
  ImageReferenceError,
  parseImageReference,
} from "../../versions/image-reference.ts";
import { PatternError, parsePattern } from "../../versions/pattern.ts";
import { type Kept, keptOf } from "../../versions/running-tag.ts";
import type { ChannelDraft, Draft, Remark, Skipped, SourceDraft } from "./draft.ts";
import { unsetMark } from "./variables.ts";

/** What labels and lists say beside the reference. */
export interface ImageRules {
  include_pattern: string;
  exclude_pattern: string;
}

interface ImageOptions {
  rules?: ImageRules;
  /** Variables without a value; each has `unsetMark` in the reference. */
  unset?: readonly string[];
  /** What runs when the reference has neither tag nor digest; null when unknown. */
  untagged?: "latest" | null;
  /** The line to stay on, of those that the tag offers. */
  line?: string | null;
}

/**
 * A tracker for one image reference that keeps what runs: variant and codename, and the line if the tag names one. A pattern from a label
 * or list takes precedence. Says why when it cannot make one.
 */
export function imageDraft(reference: string, foundIn: string, options: ImageOptions = {}): Draft | Skipped {
  const { rules = { include_pattern: "", exclude_pattern: "" }, unset = [], untagged = null, line = null } = options;
  const { named, asks } =
    unset.length === 0 ? { named: reference.trim(), asks: false } : withoutUnsetTag(reference.trim());
  if (named.includes(unsetMark)) {
    return { found_in: foundIn, reason: say("imports.value_wanted", { variables: [...unset] }) };
  }
  const parsed = readReference(named);
  if (parsed instanceof ImageReferenceError) return { found_in: foundIn, reason: parsed.said };
  const { scheme, registry, repository, digest } = parsed;
  const tag = parsed.tag ?? (digest === null && !asks ? untagged : null);
  const remarks: Remark[] = [];
  if (digest !== null) remarks.push({ code: "digest_dropped", subject: digest.slice(0, 19) });
  if (asks) remarks.push({ code: "tag_unknown", subject: unset.join(", ") });
  const name = repository.replace(/^library\//, "");
  const image = registry === DOCKER_HUB ? name : `${registry}/${repository}`;
  const kept = tag === null ? null : keptOf(tag, repository, line);
  const given = validPattern(rules.include_pattern, remarks);
  const source = (channel: ChannelDraft): SourceDraft => ({
    kind: "oci",
    config: { image: scheme === "http" ? `http://${image}` : image },
    channels: [{ exclude_pattern: rules.exclude_pattern, ...channel }],
  });
  const draft = { name: image, found_in: foundIn, runs: running(parsed, tag, image), tag, remarks };
  const byVersion = { sorting: "semantic" };
  if (given !== "" || kept === null) {
    const sources = [source({ type: "stable", include_pattern: given })];
    return { ...draft, settings: byVersion, sources, needs_answer: asks };
  }
  remarks.push(...remarksOn(kept, tag ?? ""));
  const { channel, include_pattern, versions_pattern, lines, names_line } = kept;
  return {
    ...{ ...draft, lines, names_line },
    settings: { sorting: proposedSorting(tag === null ? [] : [tag]) },
    sources: [source({ type: channel, include_pattern })],
    needs_answer: kept.leaves_series,
    ...(versions_pattern === null
      ? {}
      : {
          alternative: {
            sources: [source({ type: "stable", include_pattern: versions_pattern })],
            settings: byVersion,
          },
        }),
  };
}

/** A tag that is a variable without a value leaves only the repository; the user must enter the tag. */
function withoutUnsetTag(reference: string): { named: string; asks: boolean } {
  const at = reference.indexOf("@");
  const tagged = at === -1 || !reference.slice(at).includes(unsetMark) ? reference : reference.slice(0, at);
  const colon = tagged.lastIndexOf(":");
  const isTag = colon > tagged.lastIndexOf("/") && (tagged.endsWith(":") || tagged.slice(colon).includes(unsetMark));
  return isTag ? { named: tagged.slice(0, colon), asks: true } : { named: tagged, asks: tagged !== reference };
}

function readReference(text: string): ImageReference | ImageReferenceError {
  try {
    return parseImageReference(text);
  } catch (error) {
    if (error instanceof ImageReferenceError) return error;
    throw error;
  }
}

function running({ digest }: ImageReference, tag: string | null, image: string): string {
  if (tag !== null) return `${image}:${tag}`;
  return digest === null ? image : `${image}@${digest.slice(0, 19)}…`;
}

/** Other tools may use another pattern language: what ours cannot take is dropped, and what runs decides. */
function validPattern(pattern: string, remarks: Remark[]): string {
  if (pattern.trim() === "") return "";
  try {
    return parsePattern(pattern).text;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    remarks.push({ code: "pattern_refused", subject: pattern.slice(0, 200) });
    return "";
  }
}

function remarksOn(kept: Kept, tag: string): Remark[] {
  return [
    ...(kept.line === null ? [] : [{ code: "line_kept" as const, subject: kept.line }]),
    ...(kept.variant === null ? [] : [{ code: "variant_kept" as const, subject: kept.variant }]),
    ...(kept.follows === "tag" ? [{ code: "tag_followed" as const, subject: tag }] : []),
    ...(kept.leaves_series ? [{ code: "series_unknown" as const, subject: tag }] : []),
  ];
}
