import type { ProviderView } from "../../src/oidc/schema.ts";
import { ActionForm, LinkButton } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { DeleteQuestion, NothingAsked, type QuestionProps } from "../components/confirm.tsx";
import { Empty } from "../components/empty.tsx";
import { Facts } from "../components/facts.tsx";
import { Link } from "../components/link.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { SecretProblem } from "../components/secret-problem.tsx";
import { State } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { SettingsTabs } from "../settings/settings.tsx";
import { texts } from "../texts/texts.ts";
import { BoundBanner } from "./form.tsx";
import { bindingPath, providerPath } from "./paths.ts";
import { ProviderMark } from "./sign-in-button.tsx";

interface ProviderPageProps {
  ctx: PageContext;
  /** Null while none is configured. */
  provider: ProviderView | null;
  /** The callback URL of a provider with the slug `home`; null without base URL. */
  example_callback_url: string | null;
}

export function ProviderPage({ ctx, provider, example_callback_url }: ProviderPageProps) {
  const t = texts(ctx).oidc;
  return (
    <Layout ctx={ctx} title={t.title} section="settings">
      <PageHeader ctx={ctx} title={texts(ctx).settings.title} lead={t.lead} />
      <SettingsTabs ctx={ctx} current="sign_in_provider" />
      {example_callback_url === null ? <BaseUrlBanner ctx={ctx} /> : null}
      {provider === null ? (
        <NoProvider ctx={ctx} example_callback_url={example_callback_url} />
      ) : (
        <Configured ctx={ctx} provider={provider} />
      )}
    </Layout>
  );
}

/** In place of the form while the provider is bound. */
export function BoundProviderPage({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  const t = texts(ctx).oidc;
  const title = t.not_editable(provider.display_name);
  return (
    <Layout ctx={ctx} title={title} section="settings">
      <PageHeader ctx={ctx} title={title} parent={{ title: t.title, href: providerPath }} />
      <SecretProblem ctx={ctx} problem={provider.problem} title={t.unreadable_title}>
        {t.unreadable_text(true)}
      </SecretProblem>
      <BoundBanner ctx={ctx} />
      <Details ctx={ctx} provider={provider} />
    </Layout>
  );
}

function BaseUrlBanner({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).oidc;
  return (
    <Banner
      tone="attention"
      title={t.base_url_missing}
      action={
        <LinkButton ctx={ctx} href="/settings" kind="main">
          {t.to_settings}
        </LinkButton>
      }
    >
      {t.base_url_missing_text}
    </Banner>
  );
}

function NoProvider({ ctx, example_callback_url }: Pick<ProviderPageProps, "ctx" | "example_callback_url">) {
  const t = texts(ctx).oidc;
  return (
    <Empty
      ctx={ctx}
      icon="shield"
      title={t.empty_title}
      action={
        <LinkButton
          ctx={ctx}
          href={`${providerPath}/new`}
          kind={example_callback_url === null ? "plain" : "main"}
          icon="plus"
        >
          {t.empty_action}
        </LinkButton>
      }
      example={
        example_callback_url === null ? undefined : (
          <>
            <p>{t.empty_example}</p>
            <Code ctx={ctx} text={example_callback_url} what={t.callback_url} wraps />
          </>
        )
      }
    >
      {t.empty_text}
    </Empty>
  );
}

function Configured({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  const t = texts(ctx).oidc;
  // It could not be bound.
  const isUnready = provider.problem !== null && provider.is_enabled && !provider.is_bound;
  // The banner already offers the only action: enabling it.
  const isSettled = provider.is_bound && !provider.is_enabled;
  return (
    <>
      <SecretProblem ctx={ctx} problem={provider.problem} title={t.unreadable_title}>
        {t.unreadable_text(provider.is_bound)}
      </SecretProblem>
      {isUnready ? null : <StateBanner ctx={ctx} provider={provider} />}
      <Section title={provider.display_name} aside={isSettled ? undefined : <Actions ctx={ctx} provider={provider} />}>
        <Panel>
          <Facts
            wide
            items={[
              [t.state, <Listing ctx={ctx} provider={provider} />],
              [t.binding, <BindingState ctx={ctx} is_bound={provider.is_bound} />],
              provider.description === "" ? null : [texts(ctx).common.description, provider.description],
            ]}
          />
          {provider.callback_url === null ? null : (
            <div>
              <p class="label">{t.callback_url}</p>
              <Code ctx={ctx} text={provider.callback_url} what={t.callback_url} wraps />
              <p class="help">{t.callback_help}</p>
            </div>
          )}
        </Panel>
      </Section>
      <Details ctx={ctx} provider={provider} />
    </>
  );
}

/** While it is bound, only the switch may be changed. */
function Actions({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  if (provider.is_bound) {
    return (
      <ActionForm ctx={ctx} action={`${providerPath}/disable`} small>
        {texts(ctx).oidc.disable}
      </ActionForm>
    );
  }
  return (
    <div class="actions">
      <LinkButton ctx={ctx} href={`${providerPath}/edit`} icon="pencil" small>
        {texts(ctx).common.edit}
      </LinkButton>
      <LinkButton ctx={ctx} href={`${providerPath}/delete`} icon="trash" small opens_dialog>
        {texts(ctx).common.delete}
      </LinkButton>
    </div>
  );
}

/** The next thing to know or to do. */
function StateBanner({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  const t = texts(ctx).oidc;
  // Without a base URL there is something else to do first.
  const kind = provider.callback_url === null ? "plain" : "main";
  if (!provider.is_enabled) {
    return (
      <Banner
        tone="attention"
        title={t.disabled_title}
        action={
          <ActionForm ctx={ctx} action={`${providerPath}/enable`} kind={kind}>
            {t.enable}
          </ActionForm>
        }
      >
        {provider.is_bound ? t.disabled_bound_text : t.disabled_text}
      </Banner>
    );
  }
  if (provider.is_bound) return <BoundBanner ctx={ctx} />;
  return (
    <Banner
      tone="quiet"
      title={t.unbound_title}
      action={
        <LinkButton ctx={ctx} href={`${bindingPath}/bind`} kind={kind} opens_dialog>
          {t.bind(provider.display_name)}
        </LinkButton>
      }
    >
      {t.unbound_text}
    </Banner>
  );
}

function Listing({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  const t = texts(ctx).oidc;
  if (!provider.is_enabled) {
    return (
      <State ctx={ctx} tone="quiet" icon="circle-minus">
        {t.not_listed_disabled}
      </State>
    );
  }
  return provider.is_bound ? (
    <State ctx={ctx} tone="current">
      {t.listed}
    </State>
  ) : (
    <State ctx={ctx} tone="quiet" icon="circle-dashed">
      {t.not_listed_unbound}
    </State>
  );
}

export function BindingState({ ctx, is_bound }: { ctx: PageContext; is_bound: boolean }) {
  const t = texts(ctx).oidc;
  return (
    <State ctx={ctx} tone={is_bound ? "current" : "quiet"} icon={is_bound ? "lock" : "circle-dashed"}>
      {is_bound ? t.bound : t.unbound}
    </State>
  );
}

function Details({ ctx, provider }: { ctx: PageContext; provider: ProviderView }) {
  const t = texts(ctx).oidc;
  const address = (value: string | null) => (value === null ? null : <code>{value}</code>);
  return (
    <Section title={texts(ctx).common.details}>
      <Panel>
        <Facts
          items={[
            [t.issuer, address(provider.issuer_url)],
            [t.discovery, provider.is_discovery_enabled ? t.discovery_on : t.discovery_off],
            [t.authorization_url, address(provider.authorization_url)],
            [t.token_url, address(provider.token_url)],
            [t.jwks_url, address(provider.jwks_url)],
            [t.userinfo_url, address(provider.userinfo_url)],
            [t.client_id, address(provider.client_id)],
            [t.client_secret, provider.has_client_secret ? t.secret_stored : t.unreadable],
            [t.scopes, address(provider.scopes)],
            [t.slug, address(provider.slug)],
            [t.icon, <ProviderMark {...provider} />],
            [texts(ctx).common.created_at, <Time ctx={ctx} at={provider.created_at} form="short" />],
            [t.edited, <Time ctx={ctx} at={provider.updated_at} form="short" />],
          ]}
        />
      </Panel>
    </Section>
  );
}

export function ProviderDelete({ ctx, provider, error }: QuestionProps<{ provider: ProviderView }>) {
  const t = texts(ctx).oidc;
  const name = provider.display_name;
  const asked = { ctx, section: "settings", error } as const;
  if (provider.is_bound) {
    const heading = texts(ctx).common.not_deletable(name);
    return (
      <NothingAsked {...asked} title={t.delete} heading={heading} back={providerPath}>
        <p>
          {t.delete_bound}{" "}
          <Link ctx={ctx} href="/account#binding">
            {t.open_binding}
          </Link>
        </p>
      </NothingAsked>
    );
  }
  return (
    <DeleteQuestion {...asked} texts={t} name={name} path={providerPath}>
      <p>{t.delete_text}</p>
    </DeleteQuestion>
  );
}
