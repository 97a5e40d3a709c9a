import { listAsk, listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import type { Parts } from "../parts.ts";
import { type AuditEntryRow, auditLists } from "./audit-queries.ts";
import { AuditEntryView, type AuditRecord, auditList } from "./audit-schema.ts";
import type { Actor } from "./schema.ts";

export type AuditEntryService = ReturnType<typeof auditEntryService>;

const exportedAtOnce = 500;

type AuditPage = Awaited<ReturnType<typeof auditLists.page>>;

function view(row: AuditEntryRow): AuditEntryView {
  const hasSubject = row.subject_kind !== null;
  return viewOf(AuditEntryView, {
    ...row,
    subject: hasSubject ? { kind: row.subject_kind ?? "", id: row.subject_id, name: row.subject_name } : null,
    detail: { ...row.detail },
  });
}

/** The audit as the administrator reads it. This service adds entries and never changes one. */
export function auditEntryService({ db, audit }: Pick<Parts, "db" | "audit">) {
  return {
    ...listOperations({
      shape: auditList,
      page: (ask) => auditLists.page(db.read, null, ask),
      counts: (ask) => auditLists.counts(db.read, null, ask),
      views: async (rows) => rows.map(view),
    }),

    /**
     * All matching entries, newest first, in batches of `exportedAtOnce`, so that memory stays bounded. Entries recorded meanwhile are left
     * out. Throws 422 at once for an invalid query.
     */
    batches: (query: unknown): AsyncGenerator<readonly AuditEntryView[]> => {
      const { search, filters } = listAsk(auditList, query);
      const ask = { search, filters, sort: "time", is_descending: true, limit: exportedAtOnce };
      return (async function* () {
        let after: string | null = null;
        do {
          const { rows, key }: AuditPage = await auditLists.page(db.read, null, { ...ask, after });
          if (rows.length > 0) yield rows.map(view);
          after = key;
        } while (after !== null);
      })();
    },

    /** For events without a change to commit with: a refused request, a blocked destination. */
    record: async (actor: Actor, record: AuditRecord): Promise<void> => {
      await db.write((tx) => audit(tx, actor, record));
    },
  };
}
