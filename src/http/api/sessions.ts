import { EndedSessionsView, SignInSessionView, sessionList } from "../../auth/schema.ts";
import { listQuery } from "../../forms/page.ts";
import type { Services } from "../../services.ts";
import { requireSession } from "../current-session.ts";
import { pageOf } from "../openapi.ts";
import { clearSessionCookie } from "../session-cookie.ts";
import { type Route, routesOf } from "./route.ts";

export function sessionsRoutes({ sessions, baseUrl }: Pick<Services, "sessions" | "baseUrl">): readonly Route[] {
  const route = routesOf("sessions");
  return [
    route("GET", "/sessions", {
      operation_id: "list_sessions",
      summary: "List active sessions (address, browser, start), newest first",
      query: listQuery(sessionList),
      answer: { status: 200, description: "A page of sessions", schema: pageOf(SignInSessionView) },
      perform: ({ context, query }) => sessions.listFor(requireSession(context)).list(query),
    }),
    route("DELETE", "/sessions", {
      operation_id: "end_other_sessions",
      summary: "End all other sessions immediately; the session of this request and API tokens are kept",
      answer: { status: 200, description: "The number of ended sessions", schema: EndedSessionsView },
      refusals: { 403: "`session_required`: an API token cannot end sessions" },
      perform: ({ context }) => sessions.endOthers(context.get("actor"), requireSession(context)),
    }),
    route("DELETE", "/sessions/{id}", {
      operation_id: "end_session",
      summary: "End a session immediately; it may be that of this request",
      answer: { status: 204, description: "Ended", schema: null },
      refusals: { 403: "`session_required`: an API token cannot end sessions" },
      perform: async ({ context, param }) => {
        const session = requireSession(context);
        await sessions.end(context.get("actor"), session, param("id"));
        if (session.via === "cookie" && session.id === param("id")) clearSessionCookie(context, baseUrl);
      },
    }),
  ];
}
