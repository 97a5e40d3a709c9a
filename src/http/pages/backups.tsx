import { BackupDelete, BackupsPage } from "../../../templates/settings/backups.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { maximumBackups } from "../../backups/schema.ts";
import { AppError } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { formText, readForm } from "./read-form.ts";
import { readList } from "./read-list.ts";
import { respondDone, respondHtml } from "./respond.ts";

/** Backups in the data directory: made, listed and deleted; their content is never sent. */
export function backupPages(app: App, services: Services, page: PageSettings): void {
  const { backups } = services;

  const list = async (c: AppContext, error: AppError | null) => {
    const ctx = await pageContext(c, page);
    const found = backups.read();
    const props = { ...(await readList(ctx, found)), newest: found.newest, maximum: maximumBackups };
    return respondHtml(c, <BackupsPage {...props} error={error?.said ?? null} />, error?.status ?? 200);
  };

  app.get("/settings/backups", (c) => list(c, null));

  app.post("/settings/backups", async (c) => {
    const with_keys = formText(await readForm(c), "with_keys") === "on";
    try {
      const made = await backups.create(c.get("actor"), { with_keys });
      const ctx = await pageContext(c, page);
      const text = texts(ctx).backups.taken(made.name);
      return respondDone(c, ctx.base_path, "/settings/backups", { tone: "current", text });
    } catch (error) {
      const isShown = error instanceof AppError && [409, 507].includes(error.status);
      if (!isShown) throw error;
      return await list(c, error);
    }
  });

  questionRoutes(app, page, {
    path: "/settings/backups/:name/delete",
    find: async (c) => ({ backup: backups.get(c.req.param("name") ?? "") }),
    draw: (asked) => <BackupDelete {...asked} />,
    perform: async (c, ctx, { backup: { name } }) => {
      await backups.delete(c.get("actor"), name);
      return { path: "/settings/backups", notice: { tone: "current", text: texts(ctx).common.deleted(name) } };
    },
  });
}
