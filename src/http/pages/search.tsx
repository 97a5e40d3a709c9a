import { SearchPage } from "../../../templates/search/search.tsx";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

/** The form has the same limit; a longer query in the address is cut, not refused. */
const maxQueryCharacters = 100;

export function searchPages(app: App, { stats }: Services, page: PageSettings): void {
  app.get("/search", async (c) => {
    const ctx = await pageContext(c, page);
    const q = (c.req.query("q") ?? "").slice(0, maxQueryCharacters);
    return respondHtml(c, <SearchPage ctx={ctx} found={await stats.search({ q })} />);
  });
}
