import { OthersEnd, SessionEnd, SessionsPage } from "../../../templates/auth/sessions.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { clearSessionCookie } from "../session-cookie.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { readList } from "./read-list.ts";
import { respondHtml } from "./respond.ts";

/** Where the administrator is signed in, and how to end it. */
export function sessionPages(app: App, services: Services, page: PageSettings): void {
  const { sessions, baseUrl } = services;

  /** This session is one of them. */
  const countOthers = async (c: AppContext) => {
    const { method } = await sessions.listFor(requireSession(c)).counts({});
    return (method?.[""] ?? 1) - 1;
  };

  app.get("/account/sessions", async (c) => {
    const ctx = await pageContext(c, page);
    const props = await readList(ctx, sessions.listFor(requireSession(c)));
    return respondHtml(c, <SessionsPage {...props} has_others={(await countOthers(c)) > 0} />);
  });

  questionRoutes(app, page, {
    path: "/account/sessions/end-others",
    find: async (c) => ({ count: await countOthers(c) }),
    draw: (asked) => <OthersEnd {...asked} />,
    perform: async (c, ctx) => {
      const { ended } = await sessions.endOthers(c.get("actor"), requireSession(c));
      return { path: "/account/sessions", notice: { tone: "current", text: texts(ctx).auth.others_ended(ended) } };
    },
  });

  questionRoutes(app, page, {
    path: "/account/sessions/:id/end",
    find: async (c) => ({ session: await sessions.get(requireSession(c), c.req.param("id") ?? "") }),
    draw: (asked) => <SessionEnd {...asked} />,
    perform: async (c, ctx, { session: { id, is_current } }) => {
      const t = texts(ctx).auth;
      await sessions.end(c.get("actor"), requireSession(c), id);
      if (!is_current) return { path: "/account/sessions", notice: { tone: "current", text: t.session_ended } };
      clearSessionCookie(c, baseUrl);
      return { path: "/login", notice: { tone: "current", text: t.signed_out } };
    },
  });
}
