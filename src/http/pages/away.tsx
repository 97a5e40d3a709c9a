import { AwayPage } from "../../../templates/errors/away.tsx";
import type { Language, PageContext, Theme } from "../../../templates/page.ts";
import { type Assets, type LoadedAsset, loadAsset, respondAsset } from "../assets.ts";
import type { App } from "../context.ts";
import { fixedHeaders } from "../middleware/security-headers.ts";
import { basePath } from "../paths.ts";
import { languageOf, type PageSettings, themeOf, type Workers } from "./page-context.ts";

/** All that the page loads. */
const files = ["transition.js", "app.css", "away.js", "icon.svg"];

/**
 * Makes each service worker once, with the page that it shows while the server does not respond. That is the same for everybody: nothing of a
 * session, a request or a moment.
 */
export function makeWorkers(assets: Pick<Assets, "path" | "text">): Workers {
  const made = new Map<string, LoadedAsset>();
  return (language, theme, prefix) => {
    const key = `${language} ${theme} ${prefix}`;
    const worker = made.get(key) ?? makeWorker(assets, language, theme, prefix);
    made.set(key, worker);
    return worker;
  };
}

function makeWorker(
  assets: Pick<Assets, "path" | "text">,
  language: Language,
  theme: Theme,
  prefix: string,
): LoadedAsset {
  const ctx: PageContext = {
    ...{ language, theme, base_path: prefix, path: "/", assets: (name) => prefix + assets.path(name) },
    ...{ time_zone: "UTC", now: 0, user: null, csrf_token: "", notices: [] },
  };
  const away = {
    pages: {
      opened: String(<AwayPage ctx={ctx} what="opened" />),
      sent: String(<AwayPage ctx={ctx} what="sent" />),
    },
    headers: [...fixedHeaders, ["Content-Type", "text/html; charset=utf-8"], ["Cache-Control", "no-store"]],
    files: files.map((name) => ctx.assets(name)),
    script: ctx.assets("away.js"),
  };
  const script = `self.away = ${JSON.stringify(away)};\n${assets.text("sw.js")}`;
  return loadAsset(new Uint8Array(Buffer.from(script)), "text/javascript; charset=utf-8");
}

/**
 * The service worker is public. Language, theme and the hash of its content are in its address, so that another choice and a new version of
 * Tidemark are another worker, and a browser keeps each. A worker of a former version that still asks gets the present one, and does not keep it.
 */
export function awayPages(app: App, page: PageSettings): void {
  app.get("/sw.js", (c) => {
    const { language, theme, version } = c.req.query();
    const worker = page.workers(
      language === "en" || language === "zh" ? language : languageOf(c),
      theme === "light" || theme === "dark" || theme === "system" ? theme : themeOf(c),
      basePath(page.settings.current().base_url),
    );
    const response = respondAsset(c, worker);
    if (version !== worker.hash) response.headers.set("Cache-Control", "no-store");
    return response;
  });
}
