import * as v from "valibot";
import type { Actor, RecordAudit } from "../auth/schema.ts";
import type { Database } from "../db/client.ts";
import { AppError, notFound } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { cursorKey, type Page, PageQuery, pageSize, toPage } from "../forms/page.ts";
import type { Sealer } from "../secrets/sealed.ts";
import {
  deleteSnapshotRow,
  executorOfRun,
  findSnapshot,
  isSnapshotInUse,
  listSnapshotsBefore,
  type SnapshotRow,
  updateSnapshotRow,
} from "./queries.ts";
import { type SnapshotDetailView, SnapshotPatch, type SnapshotView } from "./schema.ts";

export type SnapshotService = ReturnType<typeof snapshotService>;

interface SnapshotServiceOptions {
  db: Database;
  sealer: Sealer;
  audit: RecordAudit;
}

export const SnapshotQuery = v.object({
  ...PageQuery.entries,
  executor_id: v.optional(v.pipe(v.string(), v.maxLength(64))),
});

const mask = "••••••";
const maxDepth = 32;

function envValues(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const at = typeof item === "string" ? item.indexOf("=") : -1;
    return typeof item === "string" && at !== -1 ? [item.slice(at + 1)] : [];
  });
}

/** Every environment value of a configuration, wherever it stands: what no log may show. */
export function environmentValues(value: unknown, depth = 0): string[] {
  if (typeof value !== "object" || value === null || depth > maxDepth) return [];
  if (Array.isArray(value)) return value.flatMap((item) => environmentValues(item, depth + 1));
  return Object.entries(value).flatMap(([key, item]) =>
    key.toLowerCase() === "env" ? envValues(item) : environmentValues(item, depth + 1),
  );
}

/** The configuration to look at: the names of environment variables stay, their values do not. */
export function maskEnvironment(value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return null;
  if (Array.isArray(value)) return value.map((item) => maskEnvironment(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key.toLowerCase() === "env" && Array.isArray(item)
        ? item.map((line) => (typeof line === "string" && line.includes("=") ? `${line.split("=")[0]}=${mask}` : line))
        : maskEnvironment(item, depth + 1),
    ]),
  );
}

/** Snapshots: captured by runs, kept encrypted, shown without the values of environment variables. */
export function snapshotService(options: SnapshotServiceOptions) {
  const { db, sealer, audit } = options;
  const getRow = async (id: string): Promise<SnapshotRow> => {
    const row = await findSnapshot(db.read, id);
    if (row === null) throw notFound("snapshot", id);
    return row;
  };
  const view = async (row: SnapshotRow): Promise<SnapshotView> => {
    const { sealed_content: _sealed, ...rest } = row;
    const executor = await executorOfRun(db.read, row.executor_id);
    return { ...rest, executor: executor?.name ?? "" };
  };
  const subjectOf = (row: SnapshotRow) => ({ kind: "snapshot", id: row.id, name: row.reference });

  return {
    /** Newest first. `query`: `cursor`, `limit`, `executor_id`. */
    list: async (query: unknown): Promise<Page<SnapshotView>> => {
      const parsed = parseInput(SnapshotQuery, query);
      const rows = await listSnapshotsBefore(db.read, cursorKey(parsed), pageSize(parsed), parsed.executor_id ?? null);
      return toPage(
        rows,
        parsed,
        (row) => row.snapshot.id,
        (row) => ({ ...row.snapshot, executor: row.executor }),
      );
    },

    get: async (id: string): Promise<SnapshotDetailView> => {
      const row = await getRow(id);
      const content = sealer.openJson(v.unknown(), row.sealed_content, environmentValues);
      return { ...(await view(row)), content: maskEnvironment(content) };
    },

    /** Locks or unlocks. */
    update: async (actor: Actor, id: string, input: unknown): Promise<SnapshotView> => {
      const patch = parseInput(SnapshotPatch, input);
      const row = await getRow(id);
      await db.write(async (tx) => {
        await updateSnapshotRow(tx, id, patch);
        await audit(tx, actor, {
          event: patch.is_locked ? "snapshot_locked" : "snapshot_unlocked",
          outcome: "ok",
          subject: subjectOf(row),
        });
      });
      return await view(await getRow(id));
    },

    /** Refused while it is locked or a run goes back to it. */
    remove: async (actor: Actor, id: string): Promise<void> => {
      const row = await getRow(id);
      await db.write(async (tx) => {
        const stored = await findSnapshot(tx, id);
        if (stored?.is_locked === true) {
          throw new AppError("snapshot_locked", 409, `The snapshot of "${row.reference}" is locked; unlock it first`);
        }
        if (await isSnapshotInUse(tx, id)) {
          throw new AppError("in_use", 409, `A run goes back to the snapshot of "${row.reference}"; wait for its end`);
        }
        await deleteSnapshotRow(tx, id);
        await audit(tx, actor, { event: "snapshot_deleted", outcome: "ok", subject: subjectOf(row) });
      });
    },
  };
}
