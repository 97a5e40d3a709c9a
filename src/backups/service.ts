import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AuditEvent } from "../auth/audit-schema.ts";
import type { Actor } from "../auth/schema.ts";
import type { Writer } from "../db/client.ts";
import { syncFolder } from "../durable-files.ts";
import { AppError, conflict, notFound } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import { beginChange } from "../request-scope.ts";
import { backupsFolder, findBackup, findBackups, makeBackup } from "./folder.ts";
import { backupLists } from "./queries.ts";
import { BackupInput, type BackupKind, BackupView, backupList, maximumBackups } from "./schema.ts";
import { type BackupKeys, writeBackup } from "./write-backup.ts";

export type BackupService = ReturnType<typeof backupService>;

interface BackupServiceOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  data_dir: string;
  /** The database's file; null on a server. */
  database_file: string | null;
  /** Null when the environment or `KEYS_FILE`, which we do not copy, provides all keys. */
  keys: BackupKeys | null;
}

/** Backups in the data directory: made without downtime, listed, removed. Their content is never available over HTTP. */
export function backupService({ db, clock, audit, data_dir, database_file, keys }: BackupServiceOptions) {
  const folder = backupsFolder(data_dir);
  let isBusy = false;

  const requireFile = (): string => {
    if (database_file !== null) return database_file;
    throw new AppError("remote_database", 409, say("backups.remote_database"));
  };

  /** Names the backup in the transaction that records it, so that neither exists without the other. */
  const write = async (actor: Actor, kind: BackupKind, withKeys: boolean): Promise<BackupView> => {
    const database = requireFile();
    if (isBusy) throw conflict(say("backups.in_progress"));
    const kept = findBackups(data_dir).filter((backup) => backup.kind !== "before-upgrade").length;
    if (kept >= maximumBackups) {
      throw conflict(say("backups.too_many", { limit: maximumBackups }));
    }
    isBusy = true;
    try {
      return await makeBackup(data_dir, kind, clock.now(), {
        fill: async (path, created_at) => {
          await writeBackup({ database, keys: withKeys ? keys : null, folder: path, created_at });
        },
        complete: async (giveName) => {
          await db.write(async (tx) => await record(tx, actor, "backup_created", giveName()));
        },
      });
    } finally {
      isBusy = false;
    }
  };

  const get = (name: string): BackupView => {
    const found = findBackup(data_dir, name);
    if (found === null) throw notFound("backup", name);
    return found;
  };

  const record = (tx: Writer, actor: Actor, event: AuditEvent, backup: BackupView): Promise<void> =>
    audit(tx, actor, {
      event,
      outcome: "ok",
      subject: { kind: "backup", id: backup.name, name: backup.name },
      detail: { kind: backup.kind, has_keys: backup.has_keys },
    });

  return {
    /** The backups that there are now, newest first. */
    read: () => {
      const found = findBackups(data_dir);
      const listed = found.map((backup) => ({ ...backup, id: backup.name }));
      return {
        newest: found[0] ?? null,
        ...listOperations({
          shape: backupList,
          page: (ask) => backupLists.page(db.read, listed, ask),
          counts: (ask) => backupLists.counts(db.read, listed, ask),
          views: async (rows) => rows.map((row) => viewOf(BackupView, row)),
        }),
      };
    },

    get,

    /** Makes one now. Throws 409 for a database on a server, while another is being made, and when there are too many; 507. */
    create: async (actor: Actor, input: unknown): Promise<BackupView> =>
      await write(actor, "manual", parseInput(BackupInput, input ?? {}).with_keys),

    /** With the keys: data from before a rotation is useless without the previous key. */
    createBeforeRotation: async (actor: Actor): Promise<BackupView> => await write(actor, "before-key-rotation", true),

    delete: async (actor: Actor, name: string): Promise<void> => {
      const backup = get(name);
      beginChange();
      // Renamed first, so that a crash leaves no half-deleted backup.
      const removed = join(folder, `${name}.tmp`);
      renameSync(backup.path, removed);
      rmSync(removed, { recursive: true, force: true });
      syncFolder(folder);
      await db.write((tx) => record(tx, actor, "backup_deleted", backup));
    },
  };
}
