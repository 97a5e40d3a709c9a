import { ConnectionPage } from "../../../templates/connections/detail.tsx";
import {
  type FoundImages,
  ImageRemove,
  maxRemoved,
  removalPath,
  UnusedImages,
} from "../../../templates/connections/images.tsx";
import { type PageContext, partsOf, withQuery } from "../../../templates/page.ts";
import { translatePart } from "../../../templates/texts/messages.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError, PluginError, saidBy } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import type { StoredNotice } from "../cookies.ts";
import { chosenBy, chosenIn } from "./chosen.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { readList } from "./read-list.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

/** Unused images of a connection, listed and removed on request. */
export function connectionImagePages(app: App, services: Services, page: PageSettings): void {
  const { connections, images } = services;

  /** An unreachable runtime is shown beside the rest of the page. */
  const look = async (c: AppContext, ctx: PageContext, id: string): Promise<Exclude<FoundImages, null>> => {
    try {
      const { items, list, others } = await images.unused(id, c.req.raw.signal);
      return { list: { page: await readList(ctx, list), count: items.length, others } };
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return "none";
      if (!(error instanceof PluginError)) throw error;
      return { failure: saidBy(error) };
    }
  };

  app.get("/connections/:id/images", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const found = connection.is_enabled ? await look(c, ctx, connection.id) : null;
    if (isFragmentRequest(c)) return respondHtml(c, <UnusedImages ctx={ctx} connection={connection} found={found} />);
    return respondHtml(c, <ConnectionPage ctx={ctx} connection={connection} discovery={null} images={found} />);
  });

  app.post("/connections/:id/images/remove", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const form = await readForm(c);
    const next = backTo(connection.id, formText(form, "next"));
    return respondDone(c, ctx.base_path, withQuery(chosenIn(form, removalPath(connection), next), { back: next }));
  });

  app.get("/connections/:id/images/remove", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const { items, list } = await images.unused(connection.id, c.req.raw.signal);
    const chosen = await chosenBy(ctx.path, list, items.length);
    const selected = items.filter(({ id, reason }) => chosen.includes(id) && reason !== "needed").slice(0, maxRemoved);
    const back = backTo(connection.id, c.req.query("back"));
    return respondHtml(c, <ImageRemove {...{ ctx, connection, selected, back }} />);
  });

  app.post("/connections/:id/images/remove/confirmed", async (c) => {
    const ctx = await pageContext(c, page);
    const connection = await connections.get(c.req.param("id"));
    const form = await readForm(c);
    const wanted = formText(form, "images")
      .split(" ")
      .filter((id) => id !== "")
      .slice(0, maxRemoved);
    let left = 0;
    let refused: Message | null = null;
    for (const id of wanted) {
      try {
        await images.remove(c.get("actor"), connection.id, id, c.req.raw.signal);
      } catch (error) {
        if (!(error instanceof PluginError) && !(error instanceof AppError && error.status < 500)) throw error;
        // Whoever was faster removed it.
        if (error.code === "not_found") continue;
        left += 1;
        refused = saidBy(error);
      }
    }
    const t = texts(ctx).images;
    const notice: StoredNotice =
      refused === null
        ? { tone: "current", text: t.removed(wanted.length) }
        : {
            tone: "failed",
            text: texts(ctx).common.form.of_field(t.not_removed(left), translatePart(ctx.language, refused)),
          };
    return respondDone(c, ctx.base_path, backTo(connection.id, formText(form, "next")), notice);
  });
}

/** The list with its filters, as it was left. */
function backTo(id: string, path = ""): string {
  const list = `/connections/${id}/images`;
  return partsOf(path).bare === list ? withQuery(path, { select: null }) : list;
}
