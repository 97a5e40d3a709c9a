import { UpstreamsPage } from "../../../templates/trackers/upstreams.tsx";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { readList } from "./read-list.ts";
import { respondHtml } from "./respond.ts";

export function upstreamPages(app: App, { trackers, credentials, stats }: Services, page: PageSettings): void {
  app.get("/upstreams", async (c) => {
    const ctx = await pageContext(c, page);
    const [upstreams, requests] = await Promise.all([trackers.upstreams(), stats.requestHours()]);
    const list = await readList(ctx, upstreams.list);
    const names = await credentials.names(list.items.flatMap(({ credential_id }) => credential_id ?? []));
    const props = { ...list, upstreams, requests, credentials: names };
    return respondHtml(c, <UpstreamsPage {...props} />);
  });
}
