import type { AuditEntryService } from "../auth/audit-entries.ts";
import type { AuthService } from "../auth/service.ts";
import { toIso } from "../clock.ts";
import { unauthorized } from "../errors.ts";
import { toWire } from "./api/wire.ts";
import type { AppContext } from "./context.ts";
import { requireSession } from "./current-session.ts";

interface AuditExportServices {
  audit_entries: Pick<AuditEntryService, "batches">;
  auth: Pick<AuthService, "holds">;
  clock: { now(): number };
}

/**
 * Streams the audit as JSON lines: one batch at a time, at the reader's pace. Breaks off when the session ends. Throws 422 for an invalid
 * query.
 */
export function auditExport(c: AppContext, services: AuditExportServices, query: unknown): Response {
  const session = requireSession(c);
  const batches = services.audit_entries.batches(query);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (!(await services.auth.holds(session))) throw unauthorized();
      const next = await batches.next();
      if (next.done === true) return controller.close();
      controller.enqueue(encoder.encode(next.value.map((entry) => `${JSON.stringify(toWire(entry))}\n`).join("")));
    },
    cancel: async () => {
      await batches.return(undefined);
    },
  });
  const day = toIso(services.clock.now()).slice(0, 10);
  const headers = {
    "Content-Type": "application/x-ndjson; charset=utf-8",
    "Content-Disposition": `attachment; filename="tidemark-audit-${day}.jsonl"`,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
  return c.req.method === "HEAD" ? c.body(null, 200, headers) : c.body(body, 200, headers);
}
