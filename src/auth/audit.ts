import type { Clock } from "../clock.ts";
import type { CountedTime } from "../counted-time.ts";
import type { Reader } from "../db/client.ts";
import { newId } from "../ids.ts";
import { inEnglish, isMessage } from "../messages/message.ts";
import { tellChange } from "../request-scope.ts";
import { visibleText } from "../visible-text.ts";
import { insertAuditEntry, pruneAuditEntries } from "./audit-queries.ts";
import type { RecordAudit } from "./audit-schema.ts";

const DAY_MS = 24 * 3_600_000;
/** Entries younger than this are never removed, whatever the setting: an account thief must not be able to erase the trace. */
const leastRetentionDays = 30;
// About 40 MB. Entries younger than the least retention are kept beyond this.
const keptEntries = 100_000;
// Pruning runs in the transaction of an entry and must not slow it down; the next entry continues.
const prunedAtOnce = 500;
const pruneEveryMs = 3_600_000;

/** Longest text of one fact: entries are for reading, not for storing bodies. */
const maxFactLength = 500;

const visible = (text: string) => visibleText(text.slice(0, maxFactLength));

function encode(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  if (Array.isArray(value)) return value.slice(0, 100).map(encode);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [visible(key), encode(item)]));
  }
  return value;
}

/** A message is kept in English and, under `<name>_data`, as data. */
function factsOf([name, value]: [string, unknown]): [string, unknown][] {
  const key = visible(name);
  if (!isMessage(value)) return [[key, encode(value)]];
  return [
    [key, visible(inEnglish(value))],
    [`${key}_data`, encode(value)],
  ];
}

const encodeOptional = (text: string | null | undefined) =>
  text === null || text === undefined ? null : visible(text);

interface AuditRecorderOptions {
  clock: Clock;
  /** `days`: the setting as the transaction sees it. Without `retention`, nothing is removed. */
  retention?: { counted: CountedTime; days: (read: Reader) => Promise<number> };
}

/**
 * Writes entries as part of the caller's transaction. Later entries remove expired ones in batches, never those younger than 30 days.
 * Nothing else removes or changes an entry.
 */
export function auditRecorder({ clock, retention }: AuditRecorderOptions): RecordAudit {
  let pruneAt = Number.NEGATIVE_INFINITY;
  return async (tx, actor, record) => {
    const at = clock.now();
    await insertAuditEntry(tx, {
      id: newId(at),
      at,
      event: record.event,
      outcome: record.outcome,
      actor: encodeOptional(actor.name),
      address: encodeOptional(actor.address),
      request_id: encodeOptional(actor.request_id),
      subject_kind: record.subject?.kind ?? null,
      subject_id: encodeOptional(record.subject?.id),
      subject_name: encodeOptional(record.subject?.name),
      detail: Object.fromEntries(Object.entries(record.detail ?? {}).flatMap(factsOf)),
    });
    await tellChange(tx, record);
    if (retention === undefined || clock.elapsed() < pruneAt) return;
    const { counted, days } = retention;
    const removed = await pruneAuditEntries(tx, {
      before: counted.before(Math.max(leastRetentionDays, await days(tx)) * DAY_MS),
      keep: keptEntries,
      least_before: counted.before(leastRetentionDays * DAY_MS),
      latest: counted.latest(),
      at_once: prunedAtOnce,
    });
    pruneAt = clock.elapsed() + (removed < prunedAtOnce ? pruneEveryMs : 0);
  };
}
