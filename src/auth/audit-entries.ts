import { parseInstant } from "../clock.ts";
import { invalidInput } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { cursorKey, type Page, pageSize, toPage } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { type AuditEntryRow, type AuditFilter, listAuditEntriesBefore, listAuditEvents } from "./audit-queries.ts";
import { type Actor, AuditEntryView, AuditFilterQuery, AuditQuery, type AuditRecord } from "./schema.ts";

export type AuditEntryService = ReturnType<typeof auditEntryService>;

const exportedAtOnce = 500;

function view(row: AuditEntryRow): AuditEntryView {
  const hasSubject = row.subject_kind !== null;
  return viewOf(AuditEntryView, {
    ...row,
    subject: hasSubject ? { kind: row.subject_kind ?? "", id: row.subject_id, name: row.subject_name } : null,
    detail: { ...row.detail },
  });
}

function parseCursor(text: string | null): { at: number; id: string } | null {
  if (text === null) return null;
  const match = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(text);
  if (match === null) throw invalidInput({ cursor: say("request.cursor_unusable") });
  return { at: Number(match[1]), id: match[2] ?? "" };
}

function filterOf(query: AuditFilterQuery): AuditFilter {
  return {
    event: query.event ?? null,
    outcome: query.outcome ?? null,
    actor: query.actor ?? null,
    subject: query.subject ?? null,
    address: query.address ?? null,
    since: query.since === undefined ? null : parseInstant(query.since),
    until: query.until === undefined ? null : parseInstant(query.until),
  };
}

/** The audit as the administrator reads it. This service adds entries and never changes one. */
export function auditEntryService({ db, audit }: Pick<Parts, "db" | "audit">) {
  return {
    /** Newest first. `query`: `AuditQuery`. */
    list: async (query: unknown): Promise<Page<AuditEntryView>> => {
      const parsed = parseInput(AuditQuery, query);
      const before = parseCursor(cursorKey(parsed));
      const rows = await listAuditEntriesBefore(db.read, filterOf(parsed), before, pageSize(parsed));
      return toPage(rows, parsed, (row) => `${row.at} ${row.id}`, view);
    },

    /** Events that occur in the audit, to filter by. */
    events: (): Promise<string[]> => listAuditEvents(db.read),

    /**
     * All matching entries, newest first, in batches of `exportedAtOnce`, so that memory stays bounded. Entries recorded meanwhile are left
     * out. Throws 422 at once for an invalid query.
     */
    batches: (query: unknown): AsyncGenerator<readonly AuditEntryView[]> => {
      const filter = filterOf(parseInput(AuditFilterQuery, query));
      return (async function* () {
        let before: { at: number; id: string } | null = null;
        for (;;) {
          const rows: readonly AuditEntryRow[] = await listAuditEntriesBefore(db.read, filter, before, exportedAtOnce);
          const kept = rows.slice(0, exportedAtOnce);
          const last = kept.at(-1);
          if (last === undefined) return;
          yield kept.map(view);
          if (rows.length === kept.length) return;
          before = { at: last.at, id: last.id };
        }
      })();
    },

    /** For events without a change to commit with: a refused request, a blocked destination. */
    record: async (actor: Actor, record: AuditRecord): Promise<void> => {
      await db.write((tx) => audit(tx, actor, record));
    },
  };
}
