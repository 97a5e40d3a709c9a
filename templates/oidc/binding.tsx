import type { FieldErrors } from "../../src/errors.ts";
import type { BindingView, ProviderView } from "../../src/oidc/schema.ts";
import { CurrentPassword, PasswordOwner } from "../auth/password-field.tsx";
import { Button, Csrf, LinkButton } from "../components/button.tsx";
import { Asked } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import { isSafeUrl, type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { bindingPath, providerPath } from "./paths.ts";
import { BindingState } from "./provider.tsx";

interface BindingSectionProps {
  ctx: PageContext;
  binding: BindingView;
  /** Null while none is configured. */
  provider: ProviderView | null;
}

/** The account page's section about the other way to sign in. */
export function BindingSection({ ctx, binding, provider }: BindingSectionProps) {
  const t = texts(ctx).oidc;
  return (
    <Section title={t.account_section} id="binding">
      {provider === null ? (
        <p class="panel nothing">
          {t.account_none}{" "}
          <Link ctx={ctx} href={providerPath}>
            {t.empty_action}
          </Link>
        </p>
      ) : (
        <Panel>
          {binding.is_bound ? (
            <Bound ctx={ctx} binding={binding} provider={provider} />
          ) : (
            <Unbound ctx={ctx} provider={provider} />
          )}
        </Panel>
      )}
    </Section>
  );
}

function ProviderLink({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  return (
    <Link ctx={ctx} href={providerPath}>
      {provider.display_name}
    </Link>
  );
}

function Bound({ ctx, binding, provider }: BindingSectionProps & { provider: ProviderView }) {
  const t = texts(ctx).oidc;
  return (
    <>
      <Facts
        items={[
          [t.binding, <BindingState ctx={ctx} is_bound />],
          [t.provider, <ProviderLink ctx={ctx} provider={provider} />],
          [t.issuer, <code>{binding.issuer ?? ""}</code>],
          [t.subject, <code>{binding.subject ?? ""}</code>],
          binding.bound_at === null ? null : [t.since, <Time ctx={ctx} at={binding.bound_at} form="short" />],
        ]}
      />
      <p class="section-lead">{provider.is_enabled ? t.account_bound : t.disabled_bound_text}</p>
      <p>
        <LinkButton ctx={ctx} href={`${bindingPath}/unbind`} opens_dialog>
          {t.unbind}
        </LinkButton>
      </p>
    </>
  );
}

function Unbound({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  const t = texts(ctx).oidc;
  const name = provider.display_name;
  return (
    <>
      <Facts
        wide
        items={[
          [t.binding, <BindingState ctx={ctx} is_bound={false} />],
          [t.provider, <ProviderLink ctx={ctx} provider={provider} />],
        ]}
      />
      <p class="section-lead">{provider.is_enabled ? t.account_unbound(name) : t.account_disabled(name)}</p>
      <p>
        {provider.is_enabled ? (
          <LinkButton ctx={ctx} href={`${bindingPath}/bind`} icon="shield" opens_dialog>
            {t.bind(name)}
          </LinkButton>
        ) : (
          <LinkButton ctx={ctx} href={`${providerPath}/edit`} icon="pencil">
            {texts(ctx).common.edit_title(name)}
          </LinkButton>
        )}
      </p>
    </>
  );
}

interface QuestionProps {
  ctx: PageContext;
  kind: "bind" | "unbind";
  /** The provider's display name. */
  name: string;
  errors: FieldErrors;
}

/**
 * Asks for the current password. With script, htmx sends `bind` and follows `HX-Redirect` to the provider; without it the response is
 * `BindingContinuePage`, because a form's redirect must stay on our origin.
 */
export function BindingQuestion({ ctx, kind, name, errors }: QuestionProps) {
  const t = texts(ctx).oidc;
  const address = url(ctx, `${bindingPath}/${kind}`);
  return (
    <Asked ctx={ctx} title={t.account_section} back="/account#binding">
      <form
        class="confirm"
        id="binding-question"
        method="post"
        action={address}
        {...(kind === "bind" ? { "hx-post": address, "hx-target": "this", "hx-swap": "outerHTML" } : {})}
      >
        <Csrf ctx={ctx} />
        <PasswordOwner ctx={ctx} />
        {/* Not focusable, unlike in other questions: the focus goes to the password. */}
        <h1 id="dialog-title">{kind === "bind" ? t.bind_title(name) : t.unbind_title(name)}</h1>
        <div class="confirm-facts">
          <p>{kind === "bind" ? t.bind_text(name) : t.unbind_text}</p>
          <CurrentPassword ctx={ctx} errors={errors} autofocus />
        </div>
        <div class="confirm-actions">
          <a class="btn bare" href={url(ctx, "/account#binding")} data-close>
            {texts(ctx).common.cancel}
          </a>
          <Button type="submit" kind={kind === "bind" ? "main" : "danger"}>
            {kind === "bind" ? t.bind_verb : t.unbind_verb}
          </Button>
        </div>
      </form>
    </Asked>
  );
}

interface ContinueProps {
  ctx: PageContext;
  name: string;
  /** The provider's address with all parameters; valid for ten minutes and once. */
  authorization_url: string;
}

/** After the password, for a browser without script: a link to the provider. */
export function BindingContinuePage({ ctx, name, authorization_url }: ContinueProps) {
  const t = texts(ctx).oidc;
  return (
    <Layout ctx={ctx} title={t.continue_title(name)}>
      <PageHeader
        ctx={ctx}
        title={t.continue_title(name)}
        parent={{ title: texts(ctx).common.user_settings, href: "/account#binding" }}
        lead={t.continue_text}
      />
      {isSafeUrl(authorization_url) ? (
        <p>
          <a class="btn main" href={authorization_url} rel="noreferrer">
            <span>{t.continue_link(name)}</span>
          </a>
        </p>
      ) : null}
    </Layout>
  );
}
