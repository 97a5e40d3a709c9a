import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { Writer } from "./client.ts";
import { administrators, sessions } from "./tables.ts";

/** Ends every session and API token, including those just being signed; returns how many of each were usable. */
export async function endEverySession(tx: Writer, now: number): Promise<{ sessions: number; api_tokens: number }> {
  const open = await tx
    .select({ kind: sessions.kind })
    .from(sessions)
    .where(and(isNull(sessions.revoked_at), gt(sessions.expires_at, now)));
  await tx.delete(sessions);
  await tx
    .update(administrators)
    .set({ session_epoch: sql`${administrators.session_epoch} + 1` })
    .where(eq(administrators.singleton, 1));
  const signIns = open.filter(({ kind }) => kind === "session").length;
  return { sessions: signIns, api_tokens: open.length - signIns };
}
