import { createHash } from "node:crypto";
import { AwayPage } from "../../../templates/errors/away.tsx";
import type { PageContext } from "../../../templates/page.ts";
import type { App, AppContext } from "../context.ts";
import { fixedHeaders } from "../middleware/security-headers.ts";
import { basePath } from "../paths.ts";
import { languageOf, type PageSettings, themeOf } from "./page-context.ts";

/** All that the page loads. */
const files = ["transition.js", "app.css", "away.js", "icon.svg"];

/**
 * The service worker, with the page that it shows while the server does not respond. Public, and the same for everybody: language and theme
 * are in its address, so that another choice is another worker, and a new version of Tidemark one with other content.
 */
export function awayPages(app: App, page: PageSettings): void {
  app.get("/sw.js", (c) => {
    const ctx = standInContext(c, page);
    const away = {
      pages: {
        opened: String(<AwayPage ctx={ctx} what="opened" />),
        sent: String(<AwayPage ctx={ctx} what="sent" />),
      },
      headers: [...fixedHeaders, ["Content-Type", "text/html; charset=utf-8"], ["Cache-Control", "no-store"]],
      files: files.map((name) => ctx.assets(name)),
      script: ctx.assets("away.js"),
    };
    const version = createHash("sha256").update(JSON.stringify(away)).digest("hex").slice(0, 16);
    const script = `self.away = ${JSON.stringify({ version, ...away })};\n${page.assets.text("sw.js")}`;
    return c.body(script, 200, { "Content-Type": "text/javascript; charset=utf-8" });
  });
}

/** For a page that is kept: nothing of a session, a request or a moment. */
function standInContext(c: AppContext, page: PageSettings): PageContext {
  const { language, theme } = c.req.query();
  const prefix = basePath(page.settings.current().base_url);
  return {
    language: language === "en" || language === "zh" ? language : languageOf(c),
    theme: theme === "light" || theme === "dark" || theme === "system" ? theme : themeOf(c),
    time_zone: page.settings.current().timezone,
    now: 0,
    base_path: prefix,
    user: null,
    csrf_token: "",
    path: "/",
    assets: (name) => prefix + page.assets.path(name),
    notices: [],
  };
}
