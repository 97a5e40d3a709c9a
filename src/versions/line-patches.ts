import { choicesAmong, momentOf, type Stage } from "./channel.ts";
import { classify, type ParsedTag } from "./classify.ts";
import { STALE_AFTER_MS } from "./left-behind.ts";
import type { Aim } from "./maturity.ts";
import { lineOf } from "./older-lines.ts";
import { compareNaturally } from "./precedence.ts";

interface Listed {
  tag: string;
  stage: Stage;
  /** Milliseconds UTC; null when a listing has no time. */
  published_at: number | null;
}

/**
 * The evidence. `published`: publish times; `built`: a later base system than a newer version had; `listed`: there are older lines with
 * patches, but no times.
 */
export const patchProofs = ["published", "built", "listed"] as const;
export type PatchProof = (typeof patchProofs)[number];

/** A version of an older line, and a higher one that was out before it. */
export interface LinePatch {
  tag: string;
  at: number | null;
  after: string;
  after_at: number | null;
}

export interface LinePatches {
  proof: PatchProof;
  /** How many patches to older lines were found. */
  count: number;
  /** Some of them, the last published or the highest first; none when they are only listed. */
  examples: LinePatch[];
  /** The highest version of each of the highest lines. */
  lines: string[];
}

const maxExamples = 3;
const maxLines = 4;
/** The newest of a list: the project's current practice is what counts. */
const maxVersions = 5_000;

/**
 * Whether a list of versions shows that a project patches older lines while newer ones are out, so that sorting by publish time would take
 * such a patch for the latest. Null without evidence. `versions` begins with the highest.
 */
export function findLinePatches(versions: readonly Listed[], aim: Aim): LinePatches | null {
  const listed = versions.slice(0, maxVersions);
  const dated = listed.map((version) => ({ ...version, first_observed_at: 0 }));
  const leading = choicesAmong(dated, "semantic", aim).flatMap((version) => {
    const parsed = classify(version.tag);
    const line = lineOf(parsed);
    return line === null ? [] : [{ ...version, parsed, line }];
  });
  const lines = [...Map.groupBy(leading, ({ line }) => line).values()];
  if (lines.length < 2) return null;
  const heads = lines.slice(0, maxLines).map(([head]) => head?.tag ?? "");
  const found = (proof: PatchProof, patches: readonly LinePatch[]): LinePatches => ({
    proof,
    count: patches.length,
    examples: patches.slice(0, maxExamples),
    lines: heads,
  });
  const published = publishedAfter(leading);
  if (published.length > 0) return found("published", published);
  const built = builtAfter(listed, leading);
  if (built.length > 0) return found("built", built);
  const isUndated = leading.some(({ published_at }) => published_at === null);
  return isUndated && lines.slice(1).some((members) => members.length > 1) ? found("listed", []) : null;
}

interface Leading extends Listed {
  parsed: ParsedTag;
  line: string;
}

/** Versions published after a higher one of another line; `leading` begins with the highest. */
function publishedAfter(leading: readonly Leading[]): LinePatch[] {
  const dated = leading.flatMap((version, place) =>
    version.published_at === null ? [] : [{ ...version, place, at: version.published_at }],
  );
  // Of simultaneous versions the higher come last: their real order is unknown.
  dated.sort((a, b) => momentOf(a.at) - momentOf(b.at) || b.place - a.place);
  const patches: LinePatch[] = [];
  let highest: (typeof dated)[number] | null = null;
  for (const version of dated) {
    // A higher number without a release for a year was abandoned: the project started counting again.
    const isLeft = highest !== null && highest.at < version.at - STALE_AFTER_MS;
    if (highest === null || isLeft || version.place < highest.place) highest = version;
    else if (version.line !== highest.line) {
      patches.push({ tag: version.tag, at: version.at, after: highest.tag, after_at: highest.at });
    }
  }
  return patches.reverse();
}

/** Base systems with growing numbers: a later base means a later build. */
const base = /(^|[-.])(alpine|debian|fedora|ubuntu)(\d+(?:\.\d+)*)(?=$|[-.])/;

interface Built {
  tag: string;
  place: number;
  line: string;
  base: string;
}

/** Versions on a later base than a higher one of another line ever had. */
function builtAfter(listed: readonly Listed[], leading: readonly Leading[]): LinePatch[] {
  const keyOf = ({ name, numbers }: ParsedTag) => `${name} ${numbers.join(".")}`;
  // Only full versions: a line's name such as `16-alpine3.23` is rebuilt on every base.
  const places = new Map(leading.map(({ parsed, line }, place) => [keyOf(parsed), { place, line }]));
  const bySystem = new Map<string, Map<number, Built>>();
  for (const { tag } of listed) {
    const parsed = classify(tag);
    const found = places.get(keyOf(parsed));
    const [, , system, number] = base.exec(parsed.variant) ?? [];
    if (found === undefined || system === undefined || number === undefined || parsed.prerelease.length > 0) continue;
    const variant = parsed.variant.replace(base, "$1$2");
    const versions = bySystem.get(variant) ?? new Map<number, Built>();
    bySystem.set(variant, versions);
    const known = versions.get(found.place);
    if (known === undefined || compareNaturally(known.base, number) < 0) {
      versions.set(found.place, { tag, base: number, ...found });
    }
  }
  const patches = [...bySystem.values()].flatMap((versions) => {
    let oldest: Built | null = null;
    const later: (LinePatch & { place: number })[] = [];
    for (const version of [...versions.values()].sort((a, b) => a.place - b.place)) {
      const isLater = oldest !== null && compareNaturally(version.base, oldest.base) > 0;
      if (oldest !== null && isLater && oldest.line !== version.line) {
        later.push({ tag: version.tag, at: null, after: oldest.tag, after_at: null, place: version.place });
      }
      if (oldest === null || compareNaturally(version.base, oldest.base) < 0) oldest = version;
    }
    return later;
  });
  const byVersion = new Map(patches.toReversed().map((patch) => [patch.place, patch]));
  return [...byVersion.values()]
    .toSorted((a, b) => a.place - b.place)
    .map(({ tag, at, after, after_at }) => ({ tag, at, after, after_at }));
}
