import { AccountPatch, AccountView, PasswordChangeInput, SignInView } from "../../auth/schema.ts";
import type { Services } from "../../services.ts";
import { requireSession, signInOrigin } from "../current-session.ts";
import { writeSessionCookie } from "../session-cookie.ts";
import { type Route, routesOf } from "./route.ts";

export function accountRoutes({
  auth,
  baseUrl,
  clock,
}: Pick<Services, "auth" | "baseUrl" | "clock">): readonly Route[] {
  const route = routesOf("account");
  return [
    route("GET", "/account", {
      operation_id: "get_account",
      summary: "Get the administrator's account",
      answer: { status: 200, description: "The account", schema: AccountView },
      perform: () => auth.account(),
    }),
    route("PATCH", "/account", {
      operation_id: "update_account",
      summary: "Rename the administrator; the ID and all sessions are kept",
      body: AccountPatch,
      answer: { status: 200, description: "The account", schema: AccountView },
      perform: ({ context, body }) => auth.updateAccount(context.get("actor"), requireSession(context), body),
    }),
    route("PUT", "/account/password", {
      operation_id: "change_password",
      summary: "Change the password; all other sessions end, and this one gets a new token",
      before_password_change: true,
      body: PasswordChangeInput,
      answer: { status: 200, description: "The new session", schema: SignInView },
      refusals: { 429: "Too many failed attempts; `Retry-After` says when" },
      perform: async ({ context, body }) => {
        const session = requireSession(context);
        const next = await auth.changePassword(signInOrigin(context), session, body);
        if (session.via === "cookie") {
          writeSessionCookie(context, baseUrl, next.token, Math.floor((next.expires_at - clock.now()) / 1000));
        }
        return next;
      },
    }),
  ];
}
