import { type LoadedAsset, respondAsset } from "../assets.ts";
import type { App, AppContext } from "../context.ts";
import { basePath } from "../paths.ts";
import { languageOf, type PageSettings, themeOf } from "./page-context.ts";

/**
 * All of it is public. The hash of the content is in each address, so that browsers cache it and a new version of Tidemark has a new
 * address. A request for an earlier version gets the current one, uncached.
 */
export function awayPages(app: App, page: PageSettings): void {
  const prefix = () => basePath(page.settings.current().base_url);
  const respond = (c: AppContext, asset: LoadedAsset) => {
    const response = respondAsset(c, asset);
    if (c.req.query("version") !== asset.hash) response.headers.set("Cache-Control", "no-store");
    return response;
  };
  app.get("/sw.js", (c) => respond(c, page.away.worker(prefix())));
  app.get("/away/:what{opened|sent}", (c) => {
    const { language, theme } = c.req.query();
    const asset = page.away.standIn(
      c.req.param("what") === "sent" ? "sent" : "opened",
      language === "en" || language === "zh" ? language : languageOf(c),
      theme === "light" || theme === "dark" || theme === "system" ? theme : themeOf(c),
      prefix(),
    );
    return respond(c, asset);
  });
}
