import { ApprovalDonePage, ApprovalGonePage, ApprovalLinkPage } from "../../../templates/runs/approval-link.tsx";
import type { Actor } from "../../auth/schema.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { respondHtml } from "./respond.ts";
import { stepsOfRun } from "./update-notes.ts";

/** The page behind a one-time link. Registered before the guard: the link is the permission to decide. */
export function approvalLinkPages(app: App, services: Services, page: PageSettings): void {
  const { approval_links: links, executors } = services;
  // A signed-in administrator also sees what everybody with the link sees.
  const context = async (c: AppContext) => ({ ...(await pageContext(c, page)), user: null });
  const unlessGone = async (c: AppContext, answer: () => Promise<Response>): Promise<Response> => {
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 404) throw error;
      return respondHtml(c, <ApprovalGonePage ctx={await context(c)} />, 404);
    }
  };

  app.get("/approvals/:run/:token", (c) =>
    unlessGone(c, async () => {
      const { run: id, token } = c.req.param();
      const run = await links.get(id, token, c.get("address"));
      const executor = await executors.get(run.executor_id);
      const breaking = await services.trackers.breakingIn(stepsOfRun(run, executor));
      return respondHtml(c, <ApprovalLinkPage {...{ ctx: await context(c), run, executor, breaking, token }} />);
    }),
  );

  app.post("/approvals/:run/:token", (c) =>
    unlessGone(c, async () => {
      const { run: id, token } = c.req.param();
      const decision = formText(await readForm(c), "decision");
      const actor: Actor = { ...c.get("actor"), name: "link" };
      const run = await links.decide(actor, id, token, decision);
      const executor = await executors.get(run.executor_id);
      const made = decision === "refuse" ? "refuse" : "approve";
      return respondHtml(c, <ApprovalDonePage ctx={await context(c)} run={run} executor={executor} decision={made} />);
    }),
  );

  app.all("/approvals/*", (c) => unlessGone(c, () => Promise.reject(notFound("page", "/approvals"))));
}
