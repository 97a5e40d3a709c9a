import type { ListProps } from "../../../templates/components/list-page.tsx";
import type { PageContext } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { type FieldDescription, valuesOf } from "../../forms/fields.ts";
import type { Message } from "../../messages/message.ts";
import type { ResourceService } from "../api/resource.ts";
import type { App, AppContext } from "../context.ts";
import { type FormState, submitForm, withMark } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { type ListService, readList } from "./read-list.ts";
import { type Markup, respondHtml, type Saved } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

interface ResourceForm<View> {
  /** Below the base path: `/credentials`. */
  path: string;
  /** Where the form of a stored one is sent; `path` and its id by default. */
  stored_path?: string;
  service: Pick<ResourceService<View>, "create" | "get" | "update">;
  /** Initial values of a new one's form. */
  begin(c: AppContext, ctx: PageContext): Values | Promise<Values>;
  /** Form values of a stored one, when they differ from its view, which has no secrets. */
  shown?(stored: View, c: AppContext): Values;
  /** `stored` is null for a new one, here and below. */
  describe(values: Values, stored: View | null): readonly FieldDescription[];
  draw(asked: { ctx: PageContext; stored: View | null } & FormState, c: AppContext): Markup;
  /** The service's input for the submitted values. */
  input(sent: Values, stored: View | null, c: AppContext): Values | Promise<Values>;
  saved(form: SavedForm<View>, c: AppContext): Saved | Promise<Saved>;
}

export interface SavedForm<View> {
  ctx: PageContext;
  view: View;
  is_new: boolean;
  /** The value of the pressed button. */
  action: string;
}

/** The forms of a new and of a stored one: shown, redrawn, refused and saved. */
export function formRoutes<View extends object>(app: App, page: PageSettings, form: ResourceForm<View>): void {
  const { path, stored_path = `${path}/:id`, service } = form;

  const show = async (c: AppContext, ctx: PageContext, stored: View | null, values: Values) => {
    const fields = form.describe(values, stored);
    const shown = stored === null ? values : withMark(fields, values);
    return respondHtml(c, await form.draw({ ctx, stored, fields, values: shown, errors: {} }, c));
  };

  const shownOf = (c: AppContext, stored: View) => form.shown?.(stored, c) ?? valuesOf(stored);

  const submit = async (c: AppContext, ctx: PageContext, id: string | null) => {
    const stored = id === null ? null : await service.get(id);
    let current = stored;
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe: (values) => form.describe(values, stored),
      render: (state) => form.draw({ ctx, stored, ...state }, c),
      current: () => (current === null ? null : shownOf(c, current)),
      save: async (sent, action) => {
        const input = await form.input(sent, stored, c);
        const actor = c.get("actor");
        const view = await (id === null ? service.create(actor, input) : service.update(actor, id, input));
        current = view;
        return await form.saved({ ctx, view, is_new: id === null, action }, c);
      },
    });
  };

  app.get(`${path}/new`, async (c) => {
    const ctx = await pageContext(c, page);
    return await show(c, ctx, null, await form.begin(c, ctx));
  });

  app.post(path, async (c) => await submit(c, await pageContext(c, page), null));

  app.get(`${path}/:id/edit`, async (c) => {
    const ctx = await pageContext(c, page);
    const stored = await service.get(c.req.param("id"));
    return await show(c, ctx, stored, shownOf(c, stored));
  });

  app.post(stored_path, async (c) => await submit(c, await pageContext(c, page), c.req.param("id") ?? ""));
}

interface ResourcePages<View> extends ResourceForm<View> {
  service: ResourceService<View> & ListService<View>;
  list(props: ListProps<View>): Markup;
  delete_question(asked: { ctx: PageContext; stored: View; error?: Message | undefined }): Markup;
}

/** The list of a resource, its forms and its deletion; other pages are declared beside them. */
export function resourcePages<View extends { name: string }>(
  app: App,
  page: PageSettings,
  resource: ResourcePages<View>,
): void {
  const { path, service, list, delete_question } = resource;

  app.get(path, async (c) => {
    const ctx = await pageContext(c, page);
    return respondHtml(c, await list(await readList(ctx, service)));
  });

  formRoutes(app, page, resource);

  questionRoutes(app, page, {
    path: `${path}/:id/delete`,
    find: async (c) => ({ id: c.req.param("id") ?? "", stored: await service.get(c.req.param("id") ?? "") }),
    draw: delete_question,
    perform: async (c, ctx, { id, stored }) => {
      await service.remove(c.get("actor"), id);
      return { path, notice: { tone: "current", text: texts(ctx).common.deleted(stored.name) } };
    },
  });
}
