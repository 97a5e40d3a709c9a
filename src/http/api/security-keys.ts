import { EncryptionRotationView, RotationInput, SecurityKeysView, SessionRotationView } from "../../keys/schema.ts";
import type { Services } from "../../services.ts";
import { requireSession } from "../current-session.ts";
import { clearSessionCookie } from "../session-cookie.ts";
import { type Route, routesOf } from "./route.ts";

const refusals = {
  403: "Not with an API token",
  409: "The key is given by the environment, a secret cannot be decrypted (it is named), or a rotation goes on already",
  429: "Too many failed attempts; `Retry-After` says when",
};

export function securityKeyRoutes({
  security_keys,
  baseUrl,
}: Pick<Services, "security_keys" | "baseUrl">): readonly Route[] {
  const route = routesOf("security-keys");
  return [
    route("GET", "/security-keys", {
      operation_id: "get_security_keys",
      summary: "Fingerprints of both keys, since when they are in use, and whether they can be rotated here",
      answer: { status: 200, description: "Both keys, without the keys", schema: SecurityKeysView },
      perform: () => security_keys.get(),
    }),
    route("POST", "/security-keys/session/rotations", {
      operation_id: "rotate_session_key",
      summary:
        "Replace the session key: every sign-in, API token and approval link ends at once, that of the caller too",
      body: RotationInput,
      answer: { status: 201, description: "What has ended; sign in again", schema: SessionRotationView },
      refusals,
      perform: async ({ context, body }) => {
        const session = requireSession(context);
        const done = await security_keys.rotateSessionKey(context.get("actor"), session, body);
        if (session.via === "cookie") clearSessionCookie(context, baseUrl);
        return done;
      },
    }),
    route("POST", "/security-keys/encryption/rotations", {
      operation_id: "rotate_encryption_key",
      summary: "Make a backup, then bring every stored secret under a new encryption key; it cannot be undone",
      body: RotationInput,
      answer: { status: 201, description: "The new key and where the backup is", schema: EncryptionRotationView },
      refusals,
      idempotent: { events: ["encryption_key_rotated"], again: null },
      perform: ({ context, body }) =>
        security_keys.rotateEncryptionKey(context.get("actor"), requireSession(context), body),
    }),
  ];
}
