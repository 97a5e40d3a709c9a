import { LogNewsPart, LogsPage } from "../../../templates/logs/logs.tsx";
import { type PageContext, withQuery } from "../../../templates/page.ts";
import { AppError, PluginError, saidBy } from "../../errors.ts";
import { defaultLines, maxLines } from "../../logs/schema.ts";
import type { Message } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { eventStream, type StreamMessage } from "./event-stream.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { respondHtml } from "./respond.ts";

/** What the target of an executor writes, shown as long as somebody looks. */
export function logPages(app: App, services: Services, page: PageSettings): void {
  const { logs, executors } = services;

  const read = async (c: AppContext, id: string, query: Readonly<Record<string, string>>) => {
    try {
      const found = await logs.read(c.get("actor"), id, query, c.req.raw.signal);
      return { ...found, failure: null, is_followed: true };
    } catch (error) {
      const mayPass = error instanceof PluginError || (error instanceof AppError && error.status === 429);
      if (!mayPass && !(error instanceof AppError && error.status === 409)) throw error;
      return { view: null, marks: "", all: [], failure: saidBy(error), is_followed: mayPass };
    }
  };

  app.get("/executors/:id/logs", async (c) => {
    const ctx = await pageContext(c, page);
    const { id, name } = await executors.get(c.req.param("id"));
    const { lines, chosen } = askedOf(c);
    const query = queryOf(c);
    const { view, marks, all, failure, is_followed } = await read(c, id, query);
    const refusal: Message | null = is_followed ? logs.refusal(requireSession(c).id) : null;
    const path = `/executors/${id}/logs/stream?${new URLSearchParams(query)}`;
    const props = {
      ...{ ctx, executor: { id, name }, view, failure, chosen, lines, refusal },
      // A choice can be undone although nothing was read.
      names: all.length === 0 ? chosen : all,
      stream: is_followed && refusal === null ? { path, after: marks } : null,
    };
    return respondHtml(c, <LogsPage {...props} />);
  });

  app.get("/executors/:id/logs/stream", async (c) => {
    const ctx = await pageContext(c, page);
    const session = requireSession(c);
    const after = c.req.header("last-event-id") ?? c.req.query("after") ?? "";
    const asked = { query: queryOf(c), after };
    const { follow } = await logs.open(c.get("actor"), session.id, c.req.param("id"), asked);
    const options = { clock: services.clock, holds: () => services.auth.holds(session), closing: c.get("closing") };
    // The page's links lead to the page, not to its stream.
    const shown = { ...ctx, path: withQuery(ctx.path.replace("/logs/stream", "/logs"), { after: null }) };
    return eventStream(c, options, (signal) => messages(shown, askedOf(c).chosen, follow(signal)));
  });
}

/** The page's address names each container by itself, as a form sends it. A number of lines that does not fit is the usual one. */
function askedOf(c: AppContext): { lines: number; chosen: readonly string[] } {
  const lines = Number(c.req.query("lines") ?? "");
  const isLines = Number.isSafeInteger(lines) && lines >= 1 && lines <= maxLines;
  const together = (c.req.query("containers") ?? "").split(",").filter((name) => name !== "");
  return { lines: isLines ? lines : defaultLines, chosen: [...(c.req.queries("container") ?? []), ...together] };
}

function queryOf(c: AppContext): Record<string, string> {
  const { lines, chosen } = askedOf(c);
  return { lines: String(lines), ...(chosen.length === 0 ? {} : { containers: chosen.join(",") }) };
}

async function* messages(
  ctx: PageContext,
  chosen: readonly string[],
  following: ReturnType<Awaited<ReturnType<Services["logs"]["open"]>>["follow"]>,
): AsyncGenerator<StreamMessage> {
  let parts = 0;
  for await (const { news, marks } of following) {
    if (news.kind === "parts") parts = news.parts.length;
    yield { id: marks, data: String(await (<LogNewsPart {...{ ctx, news, chosen, parts }} />)) };
  }
}
