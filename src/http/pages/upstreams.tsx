import { UpstreamsPage } from "../../../templates/trackers/upstreams.tsx";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

export function upstreamPages(app: App, { trackers, credentials }: Services, page: PageSettings): void {
  app.get("/upstreams", async (c) => {
    const ctx = await pageContext(c, page);
    const upstreams = await trackers.upstreams();
    const ids = upstreams.items.flatMap(({ credential_id }) => credential_id ?? []);
    return respondHtml(c, <UpstreamsPage ctx={ctx} upstreams={upstreams} credentials={await credentials.names(ids)} />);
  });
}
