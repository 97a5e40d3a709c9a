import { AuditPage } from "../../../templates/settings/audit.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { systemActor } from "../../auth/schema.ts";
import type { Services } from "../../services.ts";
import { auditExport } from "../audit-export.ts";
import type { App, AppContext } from "../context.ts";
import { dayStart } from "./day-start.ts";
import { languageOf, type PageSettings, pageContext } from "./page-context.ts";
import { listQueryOf, readList } from "./read-list.ts";
import { respondHtml } from "./respond.ts";

/** Who did what; read-only, with an export. */
export function auditPages(app: App, services: Services, page: PageSettings): void {
  const { audit_entries } = services;

  /** The valid days that an address asks for, in the system's time zone, and what they and its text mean to the service. */
  const askedBy = (c: AppContext) => {
    const { from = "", to = "", q = "" } = c.req.query();
    const zone = page.settings.current().timezone;
    const since = dayStart(zone, from);
    const until = dayStart(zone, to, 1);
    const isSystem = q.trim() === texts({ language: languageOf(c) }).settings.system;
    return {
      days: { from: since === null ? "" : from, to: until === null ? "" : to },
      given: {
        ...(since === null ? {} : { since }),
        ...(until === null ? {} : { until }),
        // The service's own name is the one shown on the page.
        ...(isSystem ? { search: systemActor.name } : {}),
      },
    };
  };

  app.get("/settings/audit", async (c) => {
    const ctx = await pageContext(c, page);
    const { days, given } = askedBy(c);
    const { asked, ...list } = await readList(ctx, audit_entries, given);
    const filters = Object.entries({ ...asked.filters, ...days }).filter(([, value]) => value !== "");
    const props = { ...list, asked: { ...asked, filters: Object.fromEntries(filters) } };
    const retention_days = services.settings.current().audit_retention_days;
    const { titleOfTargets } = services.connections;
    return respondHtml(
      c,
      <AuditPage {...props} days={days} retention_days={retention_days} title_of_targets={titleOfTargets} />,
    );
  });

  app.get("/settings/audit/export", (c) => {
    const { search } = new URL(c.req.url);
    return auditExport(c, services, { ...listQueryOf(search, audit_entries.list_shape), ...askedBy(c).given });
  });
}
