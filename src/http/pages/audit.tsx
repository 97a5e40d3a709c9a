import { type AuditFields, AuditPage } from "../../../templates/settings/audit.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { systemActor } from "../../auth/schema.ts";
import { AppError } from "../../errors.ts";
import type { Services } from "../../services.ts";
import { auditExport } from "../audit-export.ts";
import type { App, AppContext } from "../context.ts";
import { dayStart } from "./day-start.ts";
import { languageOf, type PageSettings, pageContext } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

const fieldNames = ["event", "outcome", "actor", "subject", "address", "from", "to"] as const;

/** The submitted filters; days are in the system's time zone. */
function fieldsOf(c: AppContext): AuditFields {
  const sent = c.req.query();
  const entries = fieldNames.map((name) => [name, (sent[name] ?? "").trim().slice(0, 200)] as const);
  return Object.fromEntries(entries) as Record<(typeof fieldNames)[number], string>;
}

/** The filter for the API. An invalid day is ignored; the service's own name is the one shown on the page. */
function queryOf(c: AppContext, fields: AuditFields, zone: string): Record<string, string> {
  const since = dayStart(zone, fields.from);
  const until = dayStart(zone, fields.to, 1);
  const { from: _from, to: _to, ...rest } = fields;
  const shownName = texts({ language: languageOf(c) }).settings.system;
  const actor = fields.actor === shownName ? systemActor.name : fields.actor;
  return Object.fromEntries(
    Object.entries({ ...rest, actor: actor ?? "", since: since ?? "", until: until ?? "" }).filter(
      ([, value]) => value !== "",
    ),
  );
}

/** Who did what; read-only, with an export. */
export function auditPages(app: App, services: Services, page: PageSettings): void {
  const { audit_entries } = services;
  const zone = () => page.settings.current().timezone;

  const listed = async (query: Record<string, string>, cursor: string | undefined) => {
    try {
      return await audit_entries.list({ ...query, cursor, limit: "50" });
    } catch (error) {
      // A hand-typed URL: nothing matches it.
      if (!(error instanceof AppError) || error.status !== 422) throw error;
      return { items: [], next_cursor: null };
    }
  };

  app.get("/settings/audit", async (c) => {
    const ctx = await pageContext(c, page);
    const { cursor } = c.req.query();
    const fields = fieldsOf(c);
    const { items, next_cursor } = await listed(queryOf(c, fields, zone()), cursor);
    const props = { ctx, fields, entries: items, next_cursor, is_first_page: cursor === undefined };
    const retention_days = services.settings.current().audit_retention_days;
    return respondHtml(
      c,
      <AuditPage {...props} events={await audit_entries.events()} retention_days={retention_days} />,
    );
  });

  app.get("/settings/audit/export", (c) => auditExport(c, services, queryOf(c, fieldsOf(c), zone())));
}
