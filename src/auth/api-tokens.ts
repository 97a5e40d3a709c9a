import type { Reader } from "../db/client.ts";
import { conflict, nameTaken, notFound, unauthorized } from "../errors.ts";
import { parseInput } from "../forms/issues.ts";
import { listOperations } from "../forms/page.ts";
import { viewOf } from "../forms/view.ts";
import { newId } from "../ids.ts";
import { say } from "../messages/message.ts";
import type { Parts } from "../parts.ts";
import type { SessionTokens } from "../secrets/tokens.ts";
import {
  apiTokenLists,
  countApiTokens,
  findAdministrator,
  findApiToken,
  findSignIn,
  insertSession,
  isTokenUsed,
  revokeSession,
  type SessionRow,
} from "./queries.ts";
import {
  type Actor,
  ApiTokenInput,
  ApiTokenView,
  apiTokenList,
  type CreatedApiTokenView,
  type Session,
} from "./schema.ts";
import { IDLE_LIMIT_MS } from "./sign-ins.ts";
import { type ConfirmPassword, requireSignIn } from "./step-up.ts";

const MAXIMUM_TOKENS = 100;
const DAY_MS = 24 * 3_600_000;

interface ApiTokenServiceOptions extends Pick<Parts, "db" | "clock" | "audit"> {
  tokens: SessionTokens;
  confirmPassword: ConfirmPassword;
}

function view(row: SessionRow): ApiTokenView {
  const isUsed = isTokenUsed(row);
  return viewOf(ApiTokenView, {
    ...row,
    name: row.name ?? "",
    last_used_at: isUsed ? row.last_seen_at : null,
    last_used_address: isUsed ? row.address : null,
  });
}

/** Named tokens for automation, stored as session rows of their own kind. They have no idle limit; a password reset revokes them. */
export function apiTokenService(options: ApiTokenServiceOptions) {
  const { db, clock, audit, tokens, confirmPassword } = options;
  const getRow = async (read: Reader, id: string): Promise<SessionRow> => {
    const row = await findApiToken(read, clock.now(), { id });
    if (row === null) throw notFound("api_token", id);
    return row;
  };
  return {
    /** Usable tokens, oldest first. */
    ...listOperations({
      shape: apiTokenList,
      page: (ask) => apiTokenLists.page(db.read, clock.now(), ask),
      counts: (ask) => apiTokenLists.counts(db.read, clock.now(), ask),
      views: async (rows) => rows.map(view),
    }),

    get: async (id: string): Promise<ApiTokenView> => view(await getRow(db.read, id)),

    /** The response holds the token's text, which is stored nowhere. Asks for the current password: throws as `ConfirmPassword` does. */
    create: async (actor: Actor, session: Session, input: unknown): Promise<CreatedApiTokenView> => {
      requireSignIn(session);
      const parsed = parseInput(ApiTokenInput, input);
      // Checked before the password: a name conflict must not count as a password attempt.
      if ((await findApiToken(db.read, clock.now(), { name: parsed.name })) !== null)
        throw nameTaken("api_token", parsed.name);
      await confirmPassword(actor, session, parsed.current_password, "api_token_created");
      const now = clock.now();
      const row = await db.write(async (tx) => {
        const administrator = await findAdministrator(tx);
        // A token outlives its sign-in, so a sign-in that ended while the password was compared must not create one.
        const signIn = await findSignIn(tx, { now, idle_before: now - IDLE_LIMIT_MS }, session.id);
        if (administrator === null || signIn === null) throw unauthorized();
        if ((await findApiToken(tx, now, { name: parsed.name })) !== null) {
          throw nameTaken("api_token", parsed.name);
        }
        if ((await countApiTokens(tx, now)) >= MAXIMUM_TOKENS) {
          throw conflict(say("auth.too_many_tokens", { limit: MAXIMUM_TOKENS }));
        }
        const created: SessionRow = {
          id: newId(now),
          kind: "api_token",
          administrator_id: administrator.id,
          epoch: administrator.session_epoch,
          name: parsed.name,
          method: "password",
          scope: parsed.scope,
          address: actor.address,
          user_agent: null,
          created_at: now,
          last_seen_at: now,
          expires_at: Math.floor((now + parsed.expires_in_days * DAY_MS) / 1000) * 1000,
          revoked_at: null,
        };
        await insertSession(tx, created);
        await audit(tx, actor, {
          event: "api_token_created",
          outcome: "ok",
          subject: { kind: "api_token", id: created.id, name: parsed.name },
          detail: { scope: parsed.scope, expires_in_days: parsed.expires_in_days },
        });
        return created;
      });
      const token = await tokens.sign({
        administrator_id: row.administrator_id,
        session_id: row.id,
        epoch: row.epoch,
        issued_at: row.created_at,
        expires_at: row.expires_at,
      });
      return { ...view(row), token };
    },

    /** The token is refused from the next request on. */
    revoke: async (actor: Actor, session: Session, id: string): Promise<void> => {
      requireSignIn(session);
      await db.write(async (tx) => {
        const row = await getRow(tx, id);
        await revokeSession(tx, id, clock.now());
        await audit(tx, actor, {
          event: "api_token_revoked",
          outcome: "ok",
          subject: { kind: "api_token", id, name: row.name ?? "" },
        });
      });
    },
  };
}
