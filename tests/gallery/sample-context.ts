import type { ExecutorHistory } from "../../src/stats/schema.ts";
import type { PageContext } from "../../templates/page.ts";

export function sampleContext(changes: globalThis.Partial<PageContext> = {}): PageContext {
  return {
    language: "en",
    theme: "system",
    time_zone: "Europe/Berlin",
    now: Date.UTC(2026, 10, 20, 20, 14, 0),
    base_path: "",
    user: { name: "admin" },
    csrf_token: "form-token",
    path: "/trackers?state=update",
    assets: (name) => `/assets/${name}`,
    away: { worker: "/sw.js", kept: [] },
    notices: [],
    counts: { overview: 3 },
    status: {
      tone: "current",
      text: changes.language === "zh" ? "48 个来源均已检查" : "48 sources checked",
      href: "/trackers",
    },
    ...changes,
  };
}

/** Of an executor that has done nothing. */
export const noHistory: ExecutorHistory = { days: [], lags: [] };
