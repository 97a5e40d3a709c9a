import type { Clock } from "../clock.ts";
import { newId } from "../ids.ts";
import { insertAuditEntry, pruneAuditEntries } from "./queries.ts";
import type { RecordAudit } from "./schema.ts";

// About 40 MB. Looking for the end costs a walk over the index, so that only each 256th entry pays it.
const keptEntries = 100_000;
const pruneEvery = 256;

/** Longest text of one fact; audit entries are for reading, not for storing bodies. */
const maxFactLength = 500;

// A name with a line break or an escape sequence must not look like two entries in whatever shows them later.
function visible(text: string): string {
  let out = "";
  for (const char of text.slice(0, maxFactLength)) {
    const code = char.codePointAt(0) ?? 0;
    out += code < 32 || (code >= 127 && code < 160) ? `\\u${code.toString(16).padStart(4, "0")}` : char;
  }
  return out;
}

function encode(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  if (Array.isArray(value)) return value.slice(0, 100).map(encode);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encode(item)]));
  }
  return value;
}

/** Writes entries as the caller's transaction commits; keeps the newest 100,000. */
export function auditRecorder(options: { clock: Clock }): RecordAudit {
  let written = 0;
  return async (tx, actor, record) => {
    const at = options.clock.now();
    await insertAuditEntry(tx, {
      id: newId(at),
      at,
      event: record.event,
      outcome: record.outcome,
      actor: actor.name === null ? null : visible(actor.name),
      address: actor.address,
      request_id: actor.request_id,
      subject_kind: record.subject?.kind ?? null,
      subject_id: record.subject?.id ?? null,
      subject_name: record.subject === undefined ? null : visible(record.subject.name),
      detail: Object.fromEntries(Object.entries(record.detail ?? {}).map(([key, value]) => [key, encode(value)])),
    });
    written += 1;
    if (written % pruneEvery === 0) await pruneAuditEntries(tx, keptEntries);
  };
}
