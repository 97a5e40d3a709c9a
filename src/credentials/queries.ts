import { and, asc, eq, inArray } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { listsOver } from "../db/listing.ts";
import { namedRowsOf } from "../db/rows.ts";
import { connections, credentials, tracker_sources, trackers } from "../db/tables.ts";

export type CredentialRow = typeof credentials.$inferSelect;

export const credentialRows = namedRowsOf(credentials, "credential");

/** The names of existing `ids`. */
export async function credentialNames(read: Reader, ids: readonly string[]): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return [];
  return await read
    .select({ id: credentials.id, name: credentials.name })
    .from(credentials)
    .where(inArray(credentials.id, [...ids]));
}

/** More than one installation has. */
const mostCredentials = 1_000;

export const everyCredential = async (read: Reader): Promise<CredentialRow[]> =>
  await read.select().from(credentials).orderBy(asc(credentials.name)).limit(mostCredentials);

export const credentialLists = listsOver(credentials, () => ({
  sorts: { name: "credentials.name", kind: "credentials.kind", changed: "credentials.updated_at" },
  filters: { kind: credentials.kind },
  searched: [credentials.name, credentials.description],
}));

export interface CredentialUser {
  credential_id: string;
  kind: "connection" | "tracker";
  id: string;
  name: string;
}

export async function usersOfCredentials(read: Reader, ids: readonly string[]): Promise<CredentialUser[]> {
  if (ids.length === 0) return [];
  const byConnection = await read
    .select({ credential_id: connections.credential_id, id: connections.id, name: connections.name })
    .from(connections)
    .where(inArray(connections.credential_id, [...ids]));
  const byTracker = await read
    .selectDistinct({ credential_id: tracker_sources.credential_id, id: trackers.id, name: trackers.name })
    .from(tracker_sources)
    .innerJoin(trackers, eq(trackers.id, tracker_sources.tracker_id))
    .where(inArray(tracker_sources.credential_id, [...ids]));
  const users: CredentialUser[] = [];
  for (const row of byConnection) {
    if (row.credential_id !== null) users.push({ ...row, credential_id: row.credential_id, kind: "connection" });
  }
  for (const row of byTracker) {
    if (row.credential_id !== null) users.push({ ...row, credential_id: row.credential_id, kind: "tracker" });
  }
  return users;
}

/** A new secret may be accepted where the former one was refused. A check that still uses the former one writes nothing. */
export async function makeRefusedDue(tx: Writer, credentialId: string, now: number): Promise<void> {
  await tx
    .update(tracker_sources)
    .set({ next_check_at: now, lease_owner: null, lease_until: null })
    .where(and(eq(tracker_sources.credential_id, credentialId), eq(tracker_sources.last_error_code, "unauthorized")));
}
