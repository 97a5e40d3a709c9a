import { toIso } from "../clock.ts";
import type { Parts } from "../parts.ts";
import { RecentMap } from "../recent-map.ts";
import { type AdministratorRow, findAdministrator, insertSession, type SessionRow } from "./queries.ts";
import { type Actor, subjectOf } from "./schema.ts";

/** Sign-ins while the disk is full: more than one person needs. Beyond this the oldest ends. */
const maximumHeld = 20;

interface Held {
  row: SessionRow;
  /** A password change ends the sign-ins begun with the previous one. */
  password_hash: string;
  actor: Actor;
}

export type HeldSessions = ReturnType<typeof heldSessions>;

/**
 * Keeps sign-ins in memory when the disk is full, because the administrator must get in to free space. Each is stored with its audit entry
 * once there is space; until then it ends with the process.
 */
export function heldSessions({ db, clock, log, audit }: Pick<Parts, "db" | "clock" | "log" | "audit">) {
  const held = new RecentMap<string, Held>(maximumHeld);

  const isOf = ({ row, password_hash }: Held, administrator: AdministratorRow) =>
    row.administrator_id === administrator.id && password_hash === administrator.password_hash;

  const store = async (each: Held): Promise<void> => {
    await db.write(async (tx) => {
      const administrator = await findAdministrator(tx);
      // It may have ended while it waited for its turn.
      if (administrator === null || !held.has(each.row.id) || !isOf(each, administrator)) return;
      await insertSession(tx, each.row);
      await audit(
        tx,
        { ...each.actor, name: administrator.username },
        {
          event: "login",
          outcome: "ok",
          subject: subjectOf(administrator),
          detail: { method: each.row.method, begun_at: toIso(each.row.created_at) },
        },
      );
    });
    held.delete(each.row.id);
  };

  return {
    hold: (row: SessionRow, { password_hash }: AdministratorRow, actor: Actor): void => {
      held.set(row.id, { row, password_hash, actor });
      log.error(
        "The disk is full: a session is kept in memory, and its audit entry will be written once there is space",
        {
          session_id: row.id,
          address: row.address,
        },
      );
    },

    find: async (id: string): Promise<{ session: SessionRow; administrator: AdministratorRow } | null> => {
      const found = held.get(id);
      if (found === undefined) return null;
      const administrator = await findAdministrator(db.read);
      return administrator !== null && isOf(found, administrator) ? { session: found.row, administrator } : null;
    },

    /** Records a use. False for a session that is not held. */
    touch: (id: string, now: number): boolean => {
      const found = held.get(id);
      if (found === undefined) return false;
      found.row.last_seen_at = Math.max(found.row.last_seen_at, now);
      return true;
    },

    /** Stores held sessions once there is room. */
    settle: async (): Promise<void> => {
      for (const each of [...held.values()]) {
        if (clock.now() >= each.row.expires_at) held.delete(each.row.id);
        else await store(each);
      }
    },

    /** False for a session that is not held. */
    end: (id: string): boolean => held.delete(id),

    endOthers: (kept: string): void => {
      for (const id of [...held.keys()]) if (id !== kept) held.delete(id);
    },
  };
}
