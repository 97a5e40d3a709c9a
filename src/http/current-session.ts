import type { Session } from "../auth/schema.ts";
import type { SignInOrigin } from "../auth/service.ts";
import { unauthorized } from "../errors.ts";
import type { AppContext } from "./context.ts";

/** The session of this request. Throws 401 when there is none. */
export function requireSession(c: AppContext): Session {
  const session = c.get("session");
  if (session === null) throw unauthorized();
  return session;
}

/** Who signs in: actor and user agent. */
export function signInOrigin(c: AppContext): SignInOrigin {
  return { actor: c.get("actor"), user_agent: c.req.header("user-agent") ?? null };
}
