import type { AuditEntryService } from "../../auth/audit-entries.ts";
import { AuditEntryView, AuditQuery } from "../../auth/schema.ts";
import { pageOf } from "../openapi.ts";
import type { Route } from "./route.ts";

export function auditEntryRoutes(services: { audit_entries: AuditEntryService }): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/audit-entries",
      operation_id: "list_audit_entries",
      summary: "List who did what, from where and how it ended, newest first",
      tag: "audit-entries",
      access: "read",
      query: AuditQuery,
      answer: { status: 200, description: "A page of audit entries", schema: pageOf(AuditEntryView) },
      perform: ({ query }) => services.audit_entries.list(query),
    },
  ];
}
