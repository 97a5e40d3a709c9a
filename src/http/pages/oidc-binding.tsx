import { BindingContinuePage, BindingQuestion } from "../../../templates/oidc/binding.tsx";
import { bindingPath } from "../../../templates/oidc/paths.ts";
import type { PageContext } from "../../../templates/page.ts";
import { texts } from "../../../templates/texts/texts.ts";
import { AppError, type FieldErrors } from "../../errors.ts";
import type { ProviderView } from "../../oidc/schema.ts";
import type { Services } from "../../services.ts";
import type { App, AppContext } from "../context.ts";
import { requireSession } from "../current-session.ts";
import { readAttemptCookie, writeAttemptCookie } from "../oidc-cookie.ts";
import { type PageSettings, pageContext } from "./page-context.ts";
import { formText, readForm } from "./read-form.ts";
import { isFragmentRequest, respondDone, respondHtml } from "./respond.ts";

type Kind = "bind" | "unbind";

/** The data of an answered question. */
interface Given {
  ctx: PageContext;
  provider: ProviderView;
  input: { current_password: string };
}

/** Shown in the question itself; 424 means that the provider did not respond properly. */
const shownInForm: readonly number[] = [409, 422, 429, 424];

/** Creates and removes the account's binding; each asks for the current password. */
export function oidcBindingPages(app: App, services: Services, page: PageSettings): void {
  const { oidc, baseUrl, clock } = services;

  const stored = async (): Promise<ProviderView | null> => (await oidc.list({})).items[0] ?? null;

  const question = async (c: AppContext, kind: Kind, provider: ProviderView, errors: FieldErrors = {}) => {
    const ctx = await pageContext(c, page);
    const props = { ctx, kind, name: provider.display_name, errors };
    return <BindingQuestion {...props} />;
  };

  /** The question again with the reason. For htmx always 422, the only refusal it puts into the dialog. */
  const refused = async (c: AppContext, kind: Kind, provider: ProviderView, error: unknown) => {
    if (!(error instanceof AppError) || !shownInForm.includes(error.status)) throw error;
    if (error.retry_after_seconds !== undefined) c.header("Retry-After", String(Math.ceil(error.retry_after_seconds)));
    const markup = await question(c, kind, provider, error.field_messages ?? { body: error.said });
    return respondHtml(c, markup, isFragmentRequest(c) ? 422 : error.status);
  };

  for (const kind of ["bind", "unbind"] as const) {
    app.get(`${bindingPath}/${kind}`, async (c) => {
      const ctx = await pageContext(c, page);
      const provider = await stored();
      if (provider === null) return respondDone(c, ctx.base_path, "/account#binding");
      return respondHtml(c, await question(c, kind, provider));
    });
  }

  const onAnswer = (kind: Kind, answer: (c: AppContext, given: Given) => Promise<Response>): void => {
    app.post(`${bindingPath}/${kind}`, async (c) => {
      const ctx = await pageContext(c, page);
      const provider = await stored();
      if (provider === null) return respondDone(c, ctx.base_path, "/account#binding");
      const input = { current_password: formText(await readForm(c), "current_password") };
      try {
        return await answer(c, { ctx, provider, input });
      } catch (error) {
        return await refused(c, kind, provider, error);
      }
    });
  };

  onAnswer("bind", async (c, { ctx, provider, input }) => {
    const from = { actor: c.get("actor"), session: requireSession(c), browser: readAttemptCookie(c, baseUrl) };
    const { authorization_url, browser, expires_at } = await oidc.startBinding(from, provider.id, input);
    writeAttemptCookie(c, baseUrl, browser, Math.floor((expires_at - clock.now()) / 1000));
    if (isFragmentRequest(c)) {
      c.header("HX-Redirect", authorization_url);
      return c.body(null, 204);
    }
    const { display_name } = provider;
    return respondHtml(c, <BindingContinuePage ctx={ctx} name={display_name} authorization_url={authorization_url} />);
  });

  onAnswer("unbind", async (c, { ctx, input }) => {
    await oidc.unbind(c.get("actor"), requireSession(c), input);
    return respondDone(c, ctx.base_path, "/account#binding", { tone: "current", text: texts(ctx).oidc.unbound_now });
  });
}
