import * as v from "valibot";
import type { RecordAudit } from "../auth/audit-schema.ts";
import type { Actor } from "../auth/schema.ts";
import type { Clock } from "../clock.ts";
import type { ConnectionService } from "../connections/service.ts";
import type { Database } from "../db/client.ts";
import { AppError, notFound, PluginError } from "../errors.ts";
import type { ExecutorService } from "../executors/service.ts";
import { parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { say, toldEach } from "../messages/message.ts";
import { opened, secretProblem } from "../secrets/opened.ts";
import type { Sealer } from "../secrets/sealed.ts";
import { namesOfExecutors } from "./queries.ts";
import {
  type SnapshotDetailView,
  type SnapshotDiffView,
  SnapshotExportQuery,
  SnapshotPatch,
  SnapshotView,
  snapshotList,
} from "./schema.ts";
import { snapshotContent, snapshotProblem } from "./snapshot-content.ts";
import {
  deleteSnapshotRow,
  findSnapshot,
  findSnapshotOwner,
  type ImageUser,
  isSnapshotInUse,
  latestSnapshots,
  type SnapshotOwner,
  type SnapshotRow,
  snapshotLists,
  snapshotsOfImages,
  updateSnapshotRow,
} from "./snapshot-queries.ts";

interface SnapshotServiceOptions {
  db: Database;
  clock: Clock;
  sealer: Sealer;
  audit: RecordAudit;
  connections: Pick<ConnectionService, "open" | "snapshotReader">;
  executors: Pick<ExecutorService, "owedParts" | "settings">;
}

/** A snapshot as a file that restores it without Tidemark. */
export interface SnapshotExport {
  file_name: string;
  text: string;
}

/** Throws `PluginError` if it cannot be read. */
function requireContent(sealer: Sealer, row: SnapshotRow): string {
  const { value, problem } = snapshotContent(sealer, row);
  if (problem !== null) throw new PluginError("rejected", problem);
  return value;
}

/** Snapshots: captured by runs, kept encrypted, shown without the values of environment variables. */
export function snapshotService(options: SnapshotServiceOptions) {
  const { db, clock, sealer, audit, connections, executors } = options;
  const getRow = async (id: string): Promise<SnapshotRow> => {
    const row = await findSnapshot(db.read, id);
    if (row === null) throw notFound("snapshot", id);
    return row;
  };
  const views = async (rows: readonly Omit<SnapshotRow, "sealed_content">[]): Promise<SnapshotView[]> => {
    const names = await namesOfExecutors(
      db.read,
      rows.map((row) => row.executor_id),
    );
    return rows.map((row) =>
      viewOf(SnapshotView, { ...row, image_ids: [...row.image_ids], executor: names.get(row.executor_id) ?? "" }),
    );
  };
  const view = async (row: SnapshotRow): Promise<SnapshotView> => {
    const [shown] = await views([row]);
    if (shown === undefined) throw notFound("snapshot", row.id);
    return shown;
  };
  const getOwner = async (row: SnapshotRow): Promise<SnapshotOwner> => {
    const owner = await findSnapshotOwner(db.read, row.executor_id);
    if (owner === null) throw notFound("executor", row.executor_id);
    return owner;
  };
  const subjectOf = (row: SnapshotRow) => ({ kind: "snapshot", id: row.id, name: row.reference });

  return {
    /** The id of the latest snapshot of each of these executors that has any. */
    latestOf: async (executorIds: readonly string[]): Promise<ReadonlyMap<string, string>> =>
      new Map((await latestSnapshots(db.read, executorIds)).map(({ id, executor_id }) => [executor_id, id])),

    /** Newest first. */
    ...listOperations({
      shape: snapshotList,
      page: (ask) => snapshotLists.page(db.read, null, ask),
      counts: (ask) => snapshotLists.counts(db.read, null, ask),
      views,
    }),

    get: async (id: string): Promise<SnapshotDetailView> => {
      const row = await getRow(id);
      const reader = await connections.snapshotReader((await getOwner(row)).connection_id);
      const shown = await view(row);
      if (reader === null) return { ...shown, content: null, problem: null };
      const stored = opened(
        () => sealer.openJson(v.unknown(), row.sealed_content, reader.secretsOf),
        snapshotProblem(row),
      );
      const content = stored.problem === null ? reader.mask(stored.value) : null;
      return { ...shown, content, problem: secretProblem(stored) };
    },

    /** Compares the snapshot with what runs now, field by field. Throws `PluginError` if the runtime does not respond. */
    diff: async (id: string, signal: AbortSignal): Promise<SnapshotDiffView> => {
      const row = await getRow(id);
      const owner = await getOwner(row);
      await using session = await connections.open(owner.connection_id, signal);
      if (session.snapshots === undefined) throw notFound("snapshot", id);
      const owed = await executors.owedParts(await executors.settings(row.executor_id));
      const ref = { kind: owner.target_kind, id: owner.target_id };
      const plan = await session.snapshots.planRestore(ref, requireContent(sealer, row), owed);
      const needed = [...new Set(row.image_ids.length === 0 ? [row.image_id] : row.image_ids)].filter(
        (each) => each !== "",
      );
      const present = (await session.images?.findPresent(needed)) ?? [];
      return {
        snapshot_id: id,
        is_noop: plan.is_noop,
        diff: [...plan.diff],
        files: toldEach(plan.files),
        refusals: toldEach(plan.refusals),
        warnings: toldEach(plan.warnings),
        // Other runtimes pull what is missing.
        images: session.images === undefined ? [] : needed.map((id) => ({ id, is_present: present.includes(id) })),
        plan_hash: plan.hash,
        checked_at: clock.now(),
      };
    },

    /** The snapshots that need one of the images, of any executor. */
    usersOfImages: (ids: readonly string[]): Promise<readonly ImageUser[]> => snapshotsOfImages(db.read, ids),

    /** A file that restores it without Tidemark; every export is audited. `query`: `format`, `with_secrets`. */
    export: async (actor: Actor, id: string, query: unknown): Promise<SnapshotExport> => {
      const { format, with_secrets } = parseInput(SnapshotExportQuery, query);
      const row = await getRow(id);
      const owner = await getOwner(row);
      const reader = await connections.snapshotReader(owner.connection_id);
      if (reader === null) throw notFound("snapshot", id);
      const text = reader.write(requireContent(sealer, row), { format, with_secrets });
      await db.write((tx) =>
        audit(tx, actor, {
          event: "snapshot_exported",
          outcome: "ok",
          subject: subjectOf(row),
          detail: { format, with_secrets },
        }),
      );
      const name = owner.target_id.replace(/[^A-Za-z0-9_.-]/g, "-");
      return { file_name: format === "script" ? `restore-${name}.sh` : `restore-${name}.compose.yaml`, text };
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

    /** Refused while it is locked or a run may need it. */
    remove: async (actor: Actor, id: string): Promise<void> => {
      const row = await getRow(id);
      await db.write(async (tx) => {
        const stored = await findSnapshot(tx, id);
        if (stored?.is_locked === true) {
          throw new AppError("snapshot_locked", 409, say("snapshots.locked", { reference: row.reference }));
        }
        if (await isSnapshotInUse(tx, id)) {
          throw new AppError("in_use", 409, say("snapshots.in_use", { reference: row.reference }));
        }
        await deleteSnapshotRow(tx, id);
        await audit(tx, actor, { event: "snapshot_deleted", outcome: "ok", subject: subjectOf(row) });
      });
    },
  };
}
