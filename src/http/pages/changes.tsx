import { isStillShown, type ListBodyProps, ListNews, type OpenList } from "../../../templates/components/list-page.tsx";
import { connectionsBody } from "../../../templates/connections/list.tsx";
import { executorsBody } from "../../../templates/executors/list.tsx";
import { isSection, ShellPartials } from "../../../templates/layout.tsx";
import type { PageContext } from "../../../templates/page.ts";
import { runsBody } from "../../../templates/runs/list.tsx";
import { trackersBody } from "../../../templates/trackers/list.tsx";
import { unauthorized } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { readExecutors } from "./executor-actions.tsx";
import { type PageSettings, pageContext, pathShown } from "./page-context.ts";
import { readShown, type Shown } from "./read-list.ts";
import { renewForms, respondHtml } from "./respond.ts";
import { readRuns } from "./runs.tsx";
import { readTrackers } from "./trackers.tsx";

/** As many as a page of a list has, and those that an action left on it. */
const maxRows = 100;

type Read = (services: Services, ctx: PageContext, shown: Shown) => Promise<ListBodyProps>;

/** The lists that are followed, by their pages. */
const lists: Readonly<Record<string, Read>> = {
  "/connections": async ({ connections }, ctx, shown) => connectionsBody(await readShown(ctx, connections, shown)),
  "/executors": async (services, ctx, shown) => executorsBody(await readExecutors(services, ctx, shown)),
  "/runs": async (services, ctx, shown) => runsBody(await readRuns(services, ctx, shown)),
  "/trackers": async (services, ctx, shown) => trackersBody(await readTrackers(services, ctx, shown)),
};

/**
 * What an open page asks for every 20 seconds: the numbers of its frame, and the rows of its list that no longer show what is true. For
 * whoever is signed out it says so, and leaves the rest of the page as it is: there may be half a form on it.
 */
export function changePages(app: App, services: Services, page: PageSettings): void {
  app.get("/changes", async (c) => {
    const session = c.get("session");
    if (session?.via !== "cookie") throw unauthorized();
    if (session.is_password_change_required) return c.body(null, 204);
    renewForms(c);
    const asked = await pageContext(c, page);
    const ctx = { ...asked, path: pathShown(c, asked) };
    const { section = "", seen = "", shown = "", signed_out } = c.req.query();
    const rows = shown === "" ? [] : shown.split(",").slice(0, maxRows);
    const read = lists[ctx.path.split("?")[0] ?? ""];
    return respondHtml(
      c,
      <>
        <ShellPartials
          ctx={ctx}
          section={isSection(section) ? section : undefined}
          is_back={signed_out !== undefined}
        />
        {read === undefined || rows.length === 0 ? null : await news(services, ctx, read, { seen, shown: rows })}
      </>,
    );
  });
}

/** Rows are named by what they are, then its id. */
function idOf(row: string): string {
  return row.slice(row.indexOf("-") + 1);
}

/** Nearly always the rows show what is true: the rest of the list is read only once they do not. */
async function news(services: Services, ctx: PageContext, read: Read, open: OpenList) {
  const ids = open.shown.map(idOf);
  if (isStillShown(await read(services, ctx, { only: ids }), open)) return null;
  return <ListNews {...(await read(services, ctx, { also: ids }))} shown={open.shown} />;
}
