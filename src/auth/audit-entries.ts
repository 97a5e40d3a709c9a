import type { Database } from "../db/client.ts";
import { invalidInput } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { cursorKey, type Page, pageSize, toPage } from "../forms/page.ts";
import { type AuditEntryRow, listAuditEntriesBefore } from "./queries.ts";
import { type Actor, type AuditEntryView, AuditQuery, type AuditRecord, type RecordAudit } from "./schema.ts";

export type AuditEntryService = ReturnType<typeof auditEntryService>;

interface AuditEntryServiceOptions {
  db: Database;
  audit: RecordAudit;
}

function view(row: AuditEntryRow): AuditEntryView {
  const hasSubject = row.subject_kind !== null;
  return {
    id: row.id,
    at: row.at,
    event: row.event,
    outcome: row.outcome,
    actor: row.actor,
    address: row.address,
    request_id: row.request_id,
    subject: hasSubject ? { kind: row.subject_kind ?? "", id: row.subject_id, name: row.subject_name } : null,
    detail: { ...row.detail },
  };
}

function parseCursor(text: string | null): { at: number; id: string } | null {
  if (text === null) return null;
  const match = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(text);
  if (match === null) throw invalidInput({ cursor: "This is not a cursor of this list; leave it out to begin anew" });
  return { at: Number(match[1]), id: match[2] ?? "" };
}

/** The audit as the administrator reads it; by this service entries are added and never changed. */
export function auditEntryService({ db, audit }: AuditEntryServiceOptions) {
  return {
    /** Newest first. `query`: `cursor`, `limit`, `event`, `outcome`. */
    list: async (query: unknown): Promise<Page<AuditEntryView>> => {
      const parsed = parseInput(AuditQuery, query);
      const filter = {
        before: parseCursor(cursorKey(parsed)),
        event: parsed.event ?? null,
        outcome: parsed.outcome ?? null,
      };
      const rows = await listAuditEntriesBefore(db.read, filter, pageSize(parsed));
      return toPage(rows, parsed, (row) => `${row.at} ${row.id}`, view);
    },

    /** For what happens without a change to write it with: a refused request, a blocked destination. */
    record: async (actor: Actor, record: AuditRecord): Promise<void> => {
      await db.write((tx) => audit(tx, actor, record));
    },
  };
}
