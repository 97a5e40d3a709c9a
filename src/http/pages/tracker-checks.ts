import { formatClock } from "../../../templates/format.ts";
import type { Notice, PageContext } from "../../../templates/page.ts";
import { translatePart } from "../../../templates/texts/messages.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { trackerPath } from "../../../templates/trackers/address.ts";
import { isChecking, isWaiting, reasonOf } from "../../../templates/trackers/state.tsx";
import { buildOf } from "../../trackers/releases/same-build.ts";
import type { TrackerView } from "../../trackers/schema.ts";
import type { TrackerService } from "../../trackers/service.ts";

const maxFound = 100;
const namedVersions = 3;

/** The result of a tracker's check requested at `since`; null while it runs. */
export async function checkNotice(
  trackers: Pick<TrackerService, "checkState" | "get" | "versions">,
  ctx: PageContext,
  name: string,
  since: number,
): Promise<Notice | null> {
  const t = texts(ctx).trackers.checked;
  const { sources } = await trackers.checkState(name);
  const link = { href: trackerPath(name) };
  if (sources.some((source) => source.is_waiting)) {
    const tracker = await trackers.get(name);
    const until = tracker.sources.find((source) => isWaiting(ctx, source))?.waits_until ?? null;
    // Others may still be checked; a rate limit can delay a check for an hour, too long for a spinner.
    if (until === null || isChecking(ctx, tracker)) return null;
    return { tone: "attention", text: t.waits(name, formatClock(ctx, until)), ...link };
  }
  const failed = sources.find((source) => source.error !== null);
  if (failed?.error) {
    return { tone: "failed", text: t.failed(name, reasonOf(ctx, failed.error.message_data, translatePart)), ...link };
  }
  const { items } = await trackers.versions(name, { limit: maxFound });
  const found = items.flatMap(({ releases }) => releases.find((release) => release.first_observed_at >= since) ?? []);
  const versions = [...new Set(found.map((release) => release.version))];
  if (versions.length === 0) return { tone: "current", text: t.nothing(name), ...link };
  const named = versions.slice(0, namedVersions).join(", ") + (versions.length > namedVersions ? ", …" : "");
  return { tone: "update", text: t.found(name, named), ...link };
}

/** The same for all trackers; null while one of them is still being checked. */
export async function checkOfAllNotice(
  trackers: Pick<TrackerService, "list" | "recentReleases">,
  ctx: PageContext,
  shown: readonly TrackerView[],
  since: number,
): Promise<Notice | null> {
  if (shown.some((tracker) => isChecking(ctx, tracker))) return null;
  // As long as some wait, the pool is full with others.
  if ((await trackers.list({ state: "checking", limit: 1 })).items.length > 0) return null;
  const { items } = await trackers.recentReleases({ limit: maxFound });
  const fresh = items.filter((release) => release.first_observed_at >= since);
  const builds = fresh.map((release) => `${release.tracker} ${release.source_key} ${buildOf(release) ?? release.id}`);
  const found = new Set(builds).size;
  const text = texts(ctx).trackers.checked.all(found);
  return { tone: found === 0 ? "current" : "update", text };
}
