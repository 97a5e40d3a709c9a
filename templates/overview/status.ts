import type { StatusView } from "../../src/stats/schema.ts";
import type { Language, PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** Shown on every page: the numbers of the navigation, and how recent the data is. */
export function statusLine(
  language: Language,
  { needs, active_runs, sources }: StatusView,
): Pick<PageContext, "counts" | "status"> {
  const t = texts({ language }).overview.status;
  const counts = { overview: needs, runs: active_runs };
  const { total, failing, waiting, pending, last_checked_at } = sources;
  if (total === 0) return { counts };
  if (failing + waiting > 0) {
    const text = waiting === 0 ? t.failing(failing, total) : t.waiting(waiting, failing, total);
    return { counts, status: { tone: failing > 0 ? "failed" : "attention", text, href: "/" } };
  }
  if (pending > 0 || last_checked_at === null) {
    return { counts, status: { tone: "quiet", text: t.pending(pending, total), href: "/trackers" } };
  }
  return { counts, status: { tone: "current", text: t.checked(total), at: last_checked_at, href: "/trackers" } };
}
