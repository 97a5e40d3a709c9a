import { DocsPage, ResourcePage } from "../../../templates/docs/docs.tsx";
import type { ApiResource } from "../../../templates/docs/view.ts";
import { notFound } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { describeApi } from "./api-docs.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

/** The documentation of the API, public as the OpenAPI document is, drawn by us under our own policy. */
export function docsPages(app: App, services: Services, page: PageSettings): void {
  // The document changes with the base URL alone, and building it costs more than showing it.
  let kept: { base_url: string; resources: readonly ApiResource[] } | null = null;
  const resourcesFor = (requestUrl: string) => {
    const base_url = services.baseUrl(requestUrl);
    if (kept?.base_url !== base_url) kept = { base_url, resources: describeApi(page.openapi(requestUrl)) };
    return kept;
  };

  app.get("/docs", async (c) => {
    const ctx = await pageContext(c, page);
    return respondHtml(c, <DocsPage ctx={ctx} {...resourcesFor(c.req.url)} />);
  });

  app.get("/docs/:resource", async (c) => {
    const ctx = await pageContext(c, page);
    const { resources } = resourcesFor(c.req.url);
    const resource = resources.find(({ name }) => name === c.req.param("resource"));
    if (resource === undefined) throw notFound("page", c.req.path);
    return respondHtml(c, <ResourcePage ctx={ctx} resource={resource} resources={resources} />);
  });
}
