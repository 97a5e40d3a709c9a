import { EncryptionRotationView, RotationInput, SecurityKeysView, SessionRotationView } from "../../keys/schema.ts";
import type { Services } from "../../services.ts";
import { requireSession } from "../current-session.ts";
import { clearSessionCookie } from "../session-cookie.ts";
import { type Route, routesOf } from "./route.ts";

const refusals = {
  403: "Not available to API tokens",
  409: "The key comes from the environment, a secret cannot be decrypted (it is named), or a rotation is already in progress",
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
      summary: "Get the fingerprints of both keys, when they came into use, and whether they can be rotated here",
      answer: { status: 200, description: "Both keys, by their fingerprints", schema: SecurityKeysView },
      perform: () => security_keys.get(),
    }),
    route("POST", "/security-keys/session/rotations", {
      operation_id: "rotate_session_key",
      summary:
        "Rotate the session key: every session (including the caller's), API token and approval link becomes invalid immediately",
      body: RotationInput,
      answer: {
        status: 201,
        description: "The number of ended sessions and revoked tokens; sign in again",
        schema: SessionRotationView,
      },
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
      summary: "Make a backup, then re-encrypt every stored secret with a new key; this cannot be undone",
      body: RotationInput,
      answer: {
        status: 201,
        description: "The new key's fingerprint and the location of the backup",
        schema: EncryptionRotationView,
      },
      refusals,
      idempotent: { events: ["encryption_key_rotated"], again: null },
      perform: ({ context, body }) =>
        security_keys.rotateEncryptionKey(context.get("actor"), requireSession(context), body),
    }),
  ];
}
