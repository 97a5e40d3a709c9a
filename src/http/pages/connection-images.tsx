import { ConnectionPage } from "../../../templates/connections/detail.tsx";
import { type FoundImages, ImageRemove, UnusedImages } from "../../../templates/connections/images.tsx";
import { translateMessage } from "../../../templates/texts/messages.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError, PluginError, saidBy } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import type { StoredNotice } from "../cookies.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

/** More than anyone selects manually. */
const maxSelected = 200;

/** Unused images of a connection, listed and removed on request. */
export function connectionImagePages(app: App, services: Services, page: PageSettings): void {
  const { connections, images } = services;

  /** An unreachable runtime is shown beside the rest of the page. */
  const look = async (c: AppContext, id: string): Promise<Exclude<FoundImages, null>> => {
    try {
      return { list: await images.list(id, c.req.raw.signal) };
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return "none";
      if (!(error instanceof PluginError)) throw error;
      return { failure: saidBy(error) };
    }
  };

  app.get("/connections/:id/images", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const found = connection.is_enabled ? await look(c, connection.id) : null;
    if (isFragmentRequest(c)) return respondHtml(c, <UnusedImages ctx={ctx} connection={connection} found={found} />);
    return respondHtml(c, <ConnectionPage ctx={ctx} connection={connection} discovery={null} images={found} />);
  });

  app.get("/connections/:id/images/remove", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const wanted = new Set((c.req.queries("image") ?? []).slice(0, maxSelected));
    const { items } = await images.list(connection.id, c.req.raw.signal);
    const selected = items.filter((image) => wanted.has(image.id) && image.named_by.length === 0);
    const props = { ctx, connection, selected };
    return respondHtml(c, <ImageRemove {...props} />);
  });

  app.post("/connections/:id/images/remove", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const wanted = formText(await readForm(c), "images")
      .split(" ")
      .filter((id) => id !== "");
    let removed = 0;
    let refused: Message | null = null;
    for (const id of wanted.slice(0, maxSelected)) {
      try {
        await images.remove(c.get("actor"), connection.id, id, c.req.raw.signal);
        removed += 1;
      } catch (error) {
        if (!(error instanceof PluginError) && !(error instanceof AppError && error.status < 500)) throw error;
        refused = saidBy(error);
      }
    }
    const t = texts(ctx).images;
    const notice: StoredNotice =
      refused === null
        ? { tone: "current", text: t.removed(removed) }
        : {
            tone: "failed",
            text: `${t.not_removed(wanted.length - removed)}: ${translateMessage(ctx.language, refused)}`,
          };
    return respondDone(c, ctx.base_path, `/connections/${connection.id}`, notice);
  });
}
