import { classify, type ParsedTag } from "./classify.ts";

/** From this many numbers on, a version names one build: `17` and `1.27` move from patch to patch. */
const fullNumbers = 3;

/** Whether a tag may name another build tomorrow: `latest`, `stable-alpine`, `17`. */
export function mayMove({ scheme, numbers, prerelease, builds }: ParsedTag): boolean {
  if (scheme === "floating") return true;
  return scheme !== "other" && numbers.length < fullNumbers && prerelease.length === 0 && builds.length === 0;
}

/** Whether one version is more specific than another of the same line: `1.27.4` than `1.27`, any than a name without numbers. */
export function isMoreExact(exact: ParsedTag, than: ParsedTag): boolean {
  if (exact.shape === null || exact.numbers.length <= than.numbers.length) return false;
  return (than.shape === null || exact.name === than.name) && than.numbers.every((n, at) => n === exact.numbers[at]);
}

/** Most specific first; among equals the same variant, then the shortest: `1.27.4` before `1.27.4-bookworm`. */
function byExactness(than: ParsedTag) {
  const isOther = ({ variant }: ParsedTag) => Number(variant !== than.variant);
  return (a: ParsedTag, b: ParsedTag) =>
    b.numbers.length - a.numbers.length ||
    isOther(a) - isOther(b) ||
    a.tag.length - b.tag.length ||
    (a.tag < b.tag ? -1 : 1);
}

/** Of other tags of the same build, the most specific one that a moving tag stands for; null when there is none. */
export function exactTag(own: ParsedTag, twins: readonly string[]): string | null {
  if (!mayMove(own)) return null;
  const exact = twins
    .map((tag) => classify(tag))
    .filter((twin) => isMoreExact(twin, own))
    .toSorted(byExactness(own))[0];
  return exact?.tag ?? null;
}
