import { AuditEntryView, AuditFilterQuery, AuditQuery } from "../../auth/schema.ts";
import type { Services } from "../../services.ts";
import { auditExport } from "../audit-export.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function auditEntryRoutes(services: Pick<Services, "audit_entries" | "auth" | "clock">): readonly Route[] {
  const tag = "audit-entries";
  return [
    {
      method: "GET",
      path: "/audit-entries",
      operation_id: "list_audit_entries",
      summary: "List who did what, from where and how it ended, newest first",
      tag,
      access: "read",
      query: AuditQuery,
      answer: { status: 200, description: "A page of audit entries", schema: pageOf(AuditEntryView) },
      perform: ({ query }) => services.audit_entries.list(query),
    },
    {
      method: "GET",
      path: "/audit-entries/export",
      operation_id: "export_audit_entries",
      summary: "All audit entries that match as JSON lines, newest first, however many there are",
      tag,
      access: "read",
      query: AuditFilterQuery,
      answer: {
        status: 200,
        description: "One entry a line, each as `list_audit_entries` has it",
        schema: null,
        media_type: "application/x-ndjson",
      },
      perform: async ({ context, query }) => auditExport(context, services, query),
    },
  ];
}
