import type { BehindView } from "../../src/trackers/schema.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** The distance in the two largest numbers that changed: "1 minor, 3 patches"; else in releases. */
export function behindWords(ctx: PageContext, { releases, steps, is_at_least }: BehindView): string {
  const t = texts(ctx).behind;
  const named = steps === null ? [] : (["major", "minor", "patch"] as const).filter((step) => steps[step] > 0);
  const [first, second] = named.map((step) => t[step](steps?.[step] ?? 0));
  const words = first === undefined ? t.releases(releases) : second === undefined ? first : t.both(first, second);
  return is_at_least ? t.at_least(words) : words;
}

/** How far a version is behind; the time between both publications is in the tooltip. */
export function Behind({ ctx, behind }: { ctx: PageContext; behind: BehindView | null }) {
  const t = texts(ctx).behind;
  if (behind === null) return null;
  const words = behindWords(ctx, behind);
  const title = t.title(words);
  return (
    <small class="quiet behind" title={behind.days === null ? title : t.with_days(title, behind.days)}>
      {words}
    </small>
  );
}

/** The furthest behind: by major, minor, then patch number, then by the count of releases, then what may be more. */
export function furthestBehind(all: readonly (BehindView | null)[]): BehindView | null {
  const rank = ({ steps, releases, is_at_least }: BehindView) => [
    ...[steps?.major ?? 0, steps?.minor ?? 0, steps?.patch ?? 0],
    ...[releases, Number(is_at_least)],
  ];
  const known = all.filter((each) => each !== null);
  const [furthest] = known.toSorted((a, b) => {
    const [left, right] = [rank(a), rank(b)];
    const at = left.findIndex((count, place) => count !== right[place]);
    return (right[at] ?? 0) - (left[at] ?? 0);
  });
  return furthest ?? null;
}
