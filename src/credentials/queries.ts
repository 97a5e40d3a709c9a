import { and, asc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import type { Reader, Writer } from "../db/client.ts";
import { listsOver } from "../db/listing.ts";
import { lookColumns } from "../db/look-columns.ts";
import { namedRowsOf } from "../db/rows.ts";
import { connections, credentials, tracker_sources, trackers } from "../db/tables.ts";

export { refusedSources } from "../db/refused-credentials.ts";

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
export const mostCredentials = 1_000;

export const everyCredential = async (read: Reader): Promise<CredentialRow[]> =>
  await read.select().from(credentials).orderBy(asc(credentials.name)).limit(mostCredentials);

interface CredentialListContext {
  /** The ids of those whose secret cannot be read. */
  unreadable: readonly string[];
  /** The ids of those that are refused. */
  refused: readonly string[];
}

/** As `credentialStateOf` has it. */
const stateIn = ({ unreadable, refused }: CredentialListContext) => sql<string>`case
  when credentials.id in (select value from json_each(${JSON.stringify(unreadable)})) then 'unreadable'
  when credentials.id in (select value from json_each(${JSON.stringify(refused)})) then 'refused'
  when exists (select 1 from connections where connections.credential_id = credentials.id)
    or exists (select 1 from tracker_sources where tracker_sources.credential_id = credentials.id) then 'used'
  else 'unused' end`;

export const credentialLists = listsOver(credentials, (_read, context: CredentialListContext) => ({
  sorts: {
    name: "credentials.name",
    kind: "credentials.kind",
    state: stateIn(context),
    changed: "credentials.updated_at",
  },
  filters: { state: stateIn(context), kind: credentials.kind },
  searched: [credentials.name, credentials.description],
}));

/** What determines whether connections are refused with their credentials. */
export async function connectionsWithCredential(read: Reader) {
  const { id, name, credential_id, last_check } = connections;
  return await read
    .select({ id, name, credential_id, last_check, ...lookColumns })
    .from(connections)
    .where(isNotNull(connections.credential_id))
    .orderBy(asc(connections.name));
}

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

/**
 * A new secret may be accepted where the former one was refused, or could not be read. A check that still uses the former one writes nothing.
 */
export async function makeRefusedDue(tx: Writer, credentialId: string, now: number): Promise<void> {
  await tx
    .update(tracker_sources)
    .set({ next_check_at: now, lease_owner: null, lease_until: null })
    .where(
      and(
        eq(tracker_sources.credential_id, credentialId),
        inArray(tracker_sources.last_error_code, ["unauthorized", "rejected"]),
      ),
    );
}
