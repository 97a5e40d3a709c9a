import { SessionView, SignInInput, SignInView } from "../../auth/schema.ts";
import type { Services } from "../../services.ts";
import { requireSession, signInOrigin } from "../current-session.ts";
import { clearSessionCookie } from "../session-cookie.ts";
import { type Route, routesOf } from "./route.ts";

export function sessionRoutes({ auth, baseUrl }: Pick<Services, "auth" | "baseUrl">): readonly Route[] {
  const route = routesOf("session");
  return [
    route("POST", "/session", {
      operation_id: "create_session",
      summary: "Sign in; send the token as `Authorization: Bearer`",
      access: "public",
      body: SignInInput,
      answer: {
        status: 201,
        description: "A session; it ends after 24 hours without use, and after 7 days at the latest",
        schema: SignInView,
      },
      refusals: {
        401: "`invalid_credentials`: the user name or password is wrong",
        429: "Too many failed attempts; `Retry-After` says when",
      },
      perform: ({ context, body }) => auth.signIn(signInOrigin(context), body),
    }),
    route("GET", "/session", {
      operation_id: "get_session",
      summary: "Get the session of this request",
      before_password_change: true,
      answer: { status: 200, description: "The session", schema: SessionView },
      perform: async ({ context }) => {
        const session = requireSession(context);
        return {
          id: session.id,
          kind: session.kind,
          scope: session.scope,
          username: session.username,
          password_change_required: session.is_password_change_required,
          expires_at: session.expires_at,
        };
      },
    }),
    route("DELETE", "/session", {
      operation_id: "delete_session",
      summary: "Sign out: end the session of this request, or revoke its API token",
      access: "read",
      before_password_change: true,
      answer: { status: 204, description: "Signed out", schema: null },
      perform: async ({ context }) => {
        const session = requireSession(context);
        await auth.signOut(context.get("actor"), session);
        if (session.via === "cookie") clearSessionCookie(context, baseUrl);
      },
    }),
  ];
}
