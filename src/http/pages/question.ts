import type { PageContext } from "../../../templates/page.ts";
import { AppError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { App, AppContext } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { type Markup, respondDone, respondHtml, type Saved } from "./respond.ts";

interface Question<Found> {
  path: string;
  /** Where the answer is sent, when it differs from the question's path. */
  answer_path?: string;
  /** The subject of the question; a response when there is nothing to ask. */
  find(c: AppContext, ctx: PageContext): Promise<Found | Response>;
  draw(asked: Found & { ctx: PageContext; error?: Message | undefined }, c: AppContext): Markup;
  perform(c: AppContext, ctx: PageContext, found: Found): Promise<Saved>;
}

/** A question before a risky action, and the action; its refusals appear in the question. */
export function questionRoutes<Found extends object>(app: App, page: PageSettings, question: Question<Found>): void {
  const { path, answer_path = path, find, draw, perform } = question;

  app.get(path, async (c) => {
    const ctx = await pageContext(c, page);
    const found = await find(c, ctx);
    return found instanceof Response ? found : respondHtml(c, await draw({ ...found, ctx }, c));
  });

  app.post(answer_path, async (c) => {
    const ctx = await pageContext(c, page);
    const found = await find(c, ctx);
    if (found instanceof Response) return found;
    return await answerQuestion(c, ctx, {
      perform: () => perform(c, ctx, found),
      draw: (error) => draw({ ...found, ctx, error }, c),
    });
  });
}

interface Answer {
  perform(): Promise<Saved>;
  draw(error: Message): Markup;
}

/** Redirects when it is done; otherwise shows the question again with the reason. */
export async function answerQuestion(c: AppContext, ctx: PageContext, answer: Answer): Promise<Response> {
  try {
    const { path, notice } = await answer.perform();
    return respondDone(c, ctx.base_path, path, notice);
  } catch (error) {
    if (!(error instanceof AppError) || (error.status !== 409 && error.status !== 422)) throw error;
    return respondHtml(c, await answer.draw(error.said), error.status);
  }
}
