import { DocsPage, ResourcePage } from "../../../templates/docs/docs.tsx";
import type { ApiResource } from "../../../templates/docs/view.ts";
import { notFound } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { describeApi, describedAt } from "./api-docs.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

/** The API's documentation, public like the OpenAPI document, drawn by us under our own policy. */
export function docsPages(app: App, services: Services, page: PageSettings): void {
  let kept: readonly ApiResource[] | null = null;
  const resourcesFor = (requestUrl: string) => {
    kept ??= describeApi(page.openapi(requestUrl));
    const base_url = services.baseUrl(requestUrl);
    return { base_url, resources: describedAt(base_url, kept) };
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
