import { AuditEntryView, auditList } from "../../auth/audit-schema.ts";
import { filterQuery, listQuery } from "../../forms/page.ts";
import type { Services } from "../../services.ts";
import { auditExport } from "../audit-export.ts";
import { pageOf } from "../openapi.ts";
import { type Route, routesOf } from "./route.ts";

export function auditEntryRoutes(services: Pick<Services, "audit_entries" | "auth" | "clock">): readonly Route[] {
  const route = routesOf("audit-entries");
  return [
    route("GET", "/audit-entries", {
      operation_id: "list_audit_entries",
      summary: "List audit entries (who did what, from where, with what outcome), newest first",
      query: listQuery(auditList),
      answer: { status: 200, description: "A page of audit entries", schema: pageOf(AuditEntryView) },
      perform: ({ query }) => services.audit_entries.list(query),
    }),
    route("GET", "/audit-entries/export", {
      operation_id: "export_audit_entries",
      summary: "Export all matching audit entries as JSON Lines, newest first",
      query: filterQuery(auditList),
      answer: {
        status: 200,
        description: "One entry per line, in the form of `list_audit_entries`",
        schema: null,
        media_type: "application/x-ndjson",
      },
      perform: async ({ context, query }) => auditExport(context, services, query),
    }),
  ];
}
