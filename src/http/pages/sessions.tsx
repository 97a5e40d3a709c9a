import {
  OthersEnd,
  OthersEndPage,
  SessionEnd,
  SessionEndPage,
  SessionsPage,
} from "../../../templates/auth/sessions.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { clearSessionCookie } from "../session-cookie.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

/** Where the administrator is signed in, and how to end it. */
export function sessionPages(app: App, services: Services, page: PageSettings): void {
  const { sessions, baseUrl } = services;

  // There are at most 50, which is one page.
  const listed = async (c: AppContext) => (await sessions.list(requireSession(c), { limit: "100" })).items;

  app.get("/account/sessions", async (c) => {
    const ctx = await pageContext(c, page);
    return respondHtml(c, <SessionsPage ctx={ctx} sessions={await listed(c)} />);
  });

  app.get("/account/sessions/end-others", async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, count: (await listed(c)).filter((session) => !session.is_current).length };
    return respondHtml(c, isFragmentRequest(c) ? <OthersEnd {...props} /> : <OthersEndPage {...props} />);
  });

  app.post("/account/sessions/end-others", async (c) => {
    const ctx = await pageContext(c, page);
    const { ended } = await sessions.endOthers(c.get("actor"), requireSession(c));
    const text = texts(ctx).auth.others_ended(ended);
    return respondDone(c, ctx.base_path, "/account/sessions", { tone: "current", text });
  });

  app.get("/account/sessions/:id/end", async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, session: await sessions.get(requireSession(c), c.req.param("id")) };
    return respondHtml(c, isFragmentRequest(c) ? <SessionEnd {...props} /> : <SessionEndPage {...props} />);
  });

  app.post("/account/sessions/:id/end", async (c) => {
    const session = requireSession(c);
    const ctx = await pageContext(c, page);
    await sessions.end(c.get("actor"), session, c.req.param("id"));
    if (c.req.param("id") !== session.id) {
      const text = texts(ctx).auth.session_ended;
      return respondDone(c, ctx.base_path, "/account/sessions", { tone: "current", text });
    }
    clearSessionCookie(c, baseUrl);
    return respondDone(c, ctx.base_path, "/login", { tone: "current", text: texts(ctx).auth.signed_out });
  });
}
