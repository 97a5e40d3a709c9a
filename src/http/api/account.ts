import { AccountPatch, AccountView, PasswordChangeInput, SignInView } from "../../auth/schema.ts";
import type { AuthService } from "../../auth/service.ts";
import type { Clock } from "../../clock.ts";
import { requireSession, signInOrigin } from "../current-session.ts";
import { type BaseUrl, writeSessionCookie } from "../session-cookie.ts";
import type { Route } from "./route.ts";

export function accountRoutes(services: { auth: AuthService; baseUrl: BaseUrl; clock: Clock }): readonly Route[] {
  const { auth, baseUrl, clock } = services;
  const tag = "account";
  return [
    {
      method: "GET",
      path: "/account",
      operation_id: "get_account",
      summary: "Read the administrator's account",
      tag,
      access: "read",
      answer: { status: 200, description: "The account", schema: AccountView },
      perform: () => auth.account(),
    },
    {
      method: "PATCH",
      path: "/account",
      operation_id: "update_account",
      summary: "Rename the administrator; the id and the sessions stay",
      tag,
      access: "full",
      body: AccountPatch,
      answer: { status: 200, description: "The account", schema: AccountView },
      perform: ({ context, body }) => auth.updateAccount(context.get("actor"), requireSession(context), body),
    },
    {
      method: "PUT",
      path: "/account/password",
      operation_id: "change_password",
      summary: "Change the password; every other sign-in ends, and this one gets a new token",
      tag,
      access: "full",
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
    },
  ];
}
