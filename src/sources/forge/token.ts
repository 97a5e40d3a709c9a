import * as v from "valibot";
import { say } from "../../messages/message.ts";
import { parseSecret } from "../failure.ts";

/** The secret of a credential for a forge: an access token that a header can carry. */
const TokenSecret = v.object({ token: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/)) });

export function parseToken(secret: unknown): string | null {
  return parseSecret(TokenSecret, secret, say("sources.credential_without_token"))?.token ?? null;
}
