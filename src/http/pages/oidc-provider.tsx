import { ProviderFormPage } from "../../../templates/oidc/form.tsx";
import { providerPath } from "../../../templates/oidc/paths.ts";
import { BoundProviderPage, ProviderDelete, ProviderPage } from "../../../templates/oidc/provider.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { fields, valuesOf } from "../../forms/fields.ts";
import { ProviderInput, type ProviderView } from "../../oidc/schema.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import { submitForm, withMark } from "./form-page.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { questionRoutes } from "./question.ts";
import { respondDone, respondHtml } from "./respond.ts";

type Values = Readonly<Record<string, unknown>>;

/** An unchecked box sends nothing, which must not be read as the default. */
function describe(values: Values) {
  const sent = values.is_discovery_enabled;
  return fields(ProviderInput, { ...values, is_discovery_enabled: sent === true || sent === "on" || sent === "true" });
}

/** The only sign-in provider: its page, its form and its deletion. */
export function oidcProviderPages(app: App, services: Services, page: PageSettings): void {
  const { oidc, settings } = services;

  const stored = async (): Promise<ProviderView | null> => (await oidc.list({})).items[0] ?? null;
  /** Null without base URL: then there is none to register. */
  const callbackUrl = (slug: unknown): string | null => {
    const base = settings.current().base_url;
    if (base === "") return null;
    return `${base}/auth/oidc/${typeof slug === "string" && /^[a-z0-9-]+$/.test(slug) ? slug : "home"}/callback`;
  };

  app.get(providerPath, async (c) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, provider: await stored(), example_callback_url: callbackUrl("home") };
    return respondHtml(c, <ProviderPage {...props} />);
  });

  app.get(`${providerPath}/new`, async (c) => {
    const ctx = await pageContext(c, page);
    if ((await stored()) !== null) return respondDone(c, ctx.base_path, providerPath);
    const values: Values = { is_discovery_enabled: true };
    const form = { fields: describe(values), values, errors: {} };
    return respondHtml(c, <ProviderFormPage ctx={ctx} provider={null} callback_url={callbackUrl("home")} {...form} />);
  });

  app.post(providerPath, async (c) => {
    const ctx = await pageContext(c, page);
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe,
      render: (state) => (
        <ProviderFormPage ctx={ctx} provider={null} callback_url={callbackUrl(state.values.slug)} {...state} />
      ),
      save: async (input) => {
        const created = await oidc.create(c.get("actor"), input);
        const text = texts(ctx).oidc.saved(created.display_name);
        return { path: providerPath, notice: { tone: "current", text } };
      },
    });
  });

  app.get(`${providerPath}/edit`, async (c) => {
    const ctx = await pageContext(c, page);
    const provider = await stored();
    if (provider === null) return respondDone(c, ctx.base_path, providerPath);
    if (provider.is_bound) return respondHtml(c, <BoundProviderPage ctx={ctx} provider={provider} />);
    const described = describe(provider);
    const form = { fields: described, values: withMark(described, provider), errors: {} };
    return respondHtml(
      c,
      <ProviderFormPage ctx={ctx} provider={provider} callback_url={provider.callback_url} {...form} />,
    );
  });

  app.post(`${providerPath}/edit`, async (c) => {
    const ctx = await pageContext(c, page);
    const provider = await stored();
    if (provider === null) return respondDone(c, ctx.base_path, providerPath);
    let current = provider;
    return await submitForm(c, {
      base_path: ctx.base_path,
      describe,
      render: (state) => (
        <ProviderFormPage ctx={ctx} provider={provider} callback_url={provider.callback_url} {...state} />
      ),
      current: () => valuesOf(current),
      save: async ({ slug: _fixed, ...input }) => {
        current = await oidc.update(c.get("actor"), provider.id, input);
        const text = texts(ctx).common.kept(current.display_name, false);
        return { path: providerPath, notice: { tone: "current", text } };
      },
    });
  });

  for (const verb of ["enable", "disable"] as const) {
    app.post(`${providerPath}/${verb}`, async (c) => {
      const ctx = await pageContext(c, page);
      const provider = await stored();
      if (provider === null) return respondDone(c, ctx.base_path, providerPath);
      const { display_name } = await oidc.update(c.get("actor"), provider.id, { is_enabled: verb === "enable" });
      const t = texts(ctx).oidc;
      const text = verb === "enable" ? texts(ctx).common.was_enabled(display_name) : t.disabled(display_name);
      return respondDone(c, ctx.base_path, providerPath, { tone: "current", text });
    });
  }

  questionRoutes(app, page, {
    path: `${providerPath}/delete`,
    find: async (c, ctx) => {
      const provider = await stored();
      return provider === null ? respondDone(c, ctx.base_path, providerPath) : { provider };
    },
    draw: (asked) => <ProviderDelete {...asked} />,
    perform: async (c, ctx, { provider }) => {
      await oidc.remove(c.get("actor"), provider.id);
      const text = texts(ctx).common.deleted(provider.display_name);
      return { path: providerPath, notice: { tone: "current", text } };
    },
  });
}
