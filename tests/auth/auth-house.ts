import { randomBytes } from "node:crypto";
import { LibsqlError } from "@libsql/client/sqlite3";
import { apiTokenService } from "../../src/auth/api-tokens.ts";
import { auditEntryService } from "../../src/auth/audit-entries.ts";
import { bootstrapAdministrator } from "../../src/auth/bootstrap.ts";
import type { Actor } from "../../src/auth/schema.ts";
import { authService } from "../../src/auth/service.ts";
import { sessionService } from "../../src/auth/sessions.ts";
import { createThrottle } from "../../src/auth/throttle.ts";
import type { Database } from "../../src/db/client.ts";
import { createPasswords } from "../../src/secrets/password.ts";
import { createRedactor } from "../../src/secrets/redaction.ts";
import { createSessionTokens } from "../../src/secrets/tokens.ts";
import { temporaryGround } from "../support/ground.ts";

export const actor: Actor = { name: null, address: "198.51.100.7", request_id: "request-1" };
export const origin = { actor, user_agent: "Test/1" };
export const goodPassword = "kelp-otter-lantern";

/** The `auth` feature over a database file of its own, with cheap hashes and a clock that stands still. */
export async function authHouse() {
  const ground = await temporaryGround({ level: "info", redact: createRedactor().redact });
  const { db: stored, dir, close, clock, lines, log, audit } = ground;
  let isDiskFull = false;
  const db: Database = {
    ...stored,
    write: (work) =>
      stored.write(async (tx) => {
        const result = await work(tx);
        if (isDiskFull) throw new LibsqlError("database or disk is full", "SQLITE_FULL");
        return result;
      }),
  };
  const passwords = await createPasswords({ memory_kib: 64, passes: 1 });
  const sessionKey = randomBytes(32);
  const tokens = createSessionTokens(sessionKey, clock);
  const throttle = createThrottle(clock);
  const auth = authService({ db, clock, counted: ground.counted, log, audit, passwords, tokens, throttle });
  const api_tokens = apiTokenService({ db, clock, audit, tokens, confirmPassword: auth.confirmPassword });
  const sessions = sessionService({ db, clock, log, audit, held: auth.held });
  const audit_entries = auditEntryService({ db, audit });
  const bootstrap = () => bootstrapAdministrator({ db, clock, log, audit, passwords });

  /** Signs in and returns the token with its live session. */
  const signIn = async (password: string, username = "admin", from = origin) => {
    const view = await auth.signIn(from, { username, password });
    const session = await auth.authenticate(view.token, "bearer");
    if (session === null) throw new Error("the new session does not hold");
    return { ...view, session };
  };
  return {
    db,
    /** From now on every write fails at its end as on a full disk, or none does. */
    fillDisk: (isFull: boolean) => {
      isDiskFull = isFull;
    },
    dir,
    close,
    clock,
    lines,
    log,
    audit,
    passwords,
    tokens,
    sessionKey,
    auth,
    api_tokens,
    sessions,
    audit_entries,
    bootstrap,
    signIn,
    /** The bootstrap password, as a person takes it from the log. */
    bootstrapPassword: () => {
      const line = lines.find((each) => each.includes("bootstrap password")) ?? "";
      return line.split(" ").at(-1) ?? "";
    },
    /** Bootstraps, signs in and changes the password; the session that results. */
    settle: async () => {
      await bootstrap();
      const line = lines.find((each) => each.includes("bootstrap password")) ?? "";
      const first = await signIn(line.split(" ").at(-1) ?? "");
      const changed = await auth.changePassword(origin, first.session, {
        current_password: line.split(" ").at(-1) ?? "",
        new_password: goodPassword,
      });
      const session = await auth.authenticate(changed.token, "bearer");
      if (session === null) throw new Error("the new session does not hold");
      return { token: changed.token, session };
    },
    events: async () => (await audit_entries.list({ limit: 100 })).items.map((item) => `${item.event} ${item.outcome}`),
  };
}

export type AuthHouse = Awaited<ReturnType<typeof authHouse>>;
