import { UpstreamsPage } from "../../../templates/trackers/upstreams.tsx";
import type { CredentialService } from "../../credentials/service.ts";
import type { TrackerService } from "../../trackers/service.ts";
import type { App } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

interface UpstreamPageServices {
  trackers: Pick<TrackerService, "upstreams">;
  credentials: Pick<CredentialService, "names">;
}

export function upstreamPages(app: App, { trackers, credentials }: UpstreamPageServices, page: PageSettings): void {
  app.get("/upstreams", async (c) => {
    const ctx = await pageContext(c, page);
    const { items } = await trackers.upstreams();
    const ids = items.flatMap(({ credential_id }) => credential_id ?? []);
    return respondHtml(c, <UpstreamsPage ctx={ctx} upstreams={items} credentials={await credentials.names(ids)} />);
  });
}
