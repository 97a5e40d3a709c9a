import { ToastPartial } from "../../../templates/components/notice.tsx";
import { SnapshotDiffSection, SnapshotPage } from "../../../templates/snapshots/detail.tsx";
import { SnapshotExport } from "../../../templates/snapshots/export.tsx";
import { Snapshots } from "../../../templates/snapshots/list.tsx";
import { SnapshotDelete, SnapshotRestore, SnapshotUnreadable } from "../../../templates/snapshots/questions.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { notFound } from "../../errors.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { isLocalPath, type StoredNotice } from "../cookies.ts";
import { exportedFile } from "../exported-file.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { formText, readForm } from "./read-form.ts";
import { readList } from "./read-list.ts";
import { isFragmentRequest, orFailure, respondDone, respondHtml } from "./respond.ts";

const path = "/executors/:id/snapshots/:snapshot";

/** Actions on the snapshots of an executor's page. */
export function snapshotPages(app: App, services: Services, page: PageSettings): void {
  const { executors, runs, snapshots } = services;
  const find = async (c: AppContext) => {
    const executor = await executors.get(c.req.param("id") ?? "");
    const id = c.req.param("snapshot") ?? "";
    const { content: _content, ...snapshot } = await snapshots.get(id);
    if (snapshot.executor_id !== executor.id) throw notFound("snapshot", id);
    return { executor, snapshot };
  };
  const findWith = async (c: AppContext) => ({ ctx: await pageContext(c, page), ...(await find(c)) });

  const compare = (c: AppContext, id: string) =>
    orFailure(async () => ({ view: await snapshots.diff(id, c.req.raw.signal) }));

  app.get(path, async (c) => respondHtml(c, <SnapshotPage {...(await findWith(c))} compared={null} />));

  app.get(`${path}/diff`, async (c) => {
    const found = await findWith(c);
    const props = { ...found, compared: await compare(c, found.snapshot.id) };
    return respondHtml(c, isFragmentRequest(c) ? <SnapshotDiffSection {...props} /> : <SnapshotPage {...props} />);
  });

  app.get(`${path}/export`, async (c) => {
    const asked = await findWith(c);
    const { problem } = asked.snapshot;
    const title = texts(asked.ctx).snapshots.export;
    if (problem !== null) return respondHtml(c, <SnapshotUnreadable {...asked} title={title} problem={problem} />);
    return respondHtml(c, <SnapshotExport {...asked} />);
  });

  app.post(`${path}/export`, async (c) => {
    const { snapshot } = await find(c);
    const form = await readForm(c);
    const query = { format: formText(form, "format"), with_secrets: formText(form, "with_secrets") || "false" };
    return exportedFile(await snapshots.export(c.get("actor"), snapshot.id, query));
  });

  questionRoutes(app, page, {
    path: `${path}/restore`,
    find,
    draw: async (asked, c) => {
      const { problem } = asked.snapshot;
      const title = texts(asked.ctx).executors.restore_title(asked.executor.name);
      if (problem !== null) return <SnapshotUnreadable {...asked} title={title} problem={problem} />;
      return <SnapshotRestore {...asked} compared={await compare(c, asked.snapshot.id)} />;
    },
    perform: async (c, ctx, { executor, snapshot }) => {
      const planHash = formText(await readForm(c), "plan_hash");
      const run = await runs.create(c.get("actor"), executor.id, {
        snapshot_id: snapshot.id,
        ...(planHash === "" ? {} : { plan_hash: planHash }),
      });
      const text = texts(ctx).executors.restore_started(executor.name);
      return { path: `/runs/${run.id}`, notice: { tone: "running", text } };
    },
  });

  questionRoutes(app, page, {
    path: `${path}/delete`,
    find,
    draw: (asked) => <SnapshotDelete {...asked} />,
    perform: async (c, ctx, { executor, snapshot }) => {
      await snapshots.remove(c.get("actor"), snapshot.id);
      const notice = { tone: "current", text: texts(ctx).executors.snapshot_deleted } as const;
      return { path: `/executors/${executor.id}`, notice };
    },
  });

  app.post(`${path}/lock`, async (c) => {
    const { ctx, executor, snapshot } = await findWith(c);
    const form = await readForm(c);
    const isLocked = formText(form, "locked") === "yes";
    await snapshots.update(c.get("actor"), snapshot.id, { is_locked: isLocked });
    const t = texts(ctx).executors;
    const notice: StoredNotice = { tone: "current", text: isLocked ? t.locked_done : t.unlocked_done };
    const sent = formText(form, "next");
    const next = isLocalPath(sent) ? sent : `/executors/${executor.id}`;
    if (!isFragmentRequest(c)) return respondDone(c, ctx.base_path, next, notice);
    // As if the list there had been asked for.
    const there = { ...ctx, path: next };
    const list = await readList(there, snapshots, { executor_id: executor.id });
    return respondHtml(
      c,
      <>
        <Snapshots ctx={there} executor={executor} snapshots={list} />
        <ToastPartial ctx={ctx} notice={notice} />
      </>,
    );
  });
}
