import type { FieldErrors } from "../../src/errors.ts";
import { fields } from "../../src/forms/fields.ts";
import { plain } from "../../src/messages/message.ts";
import { ProviderInput, type ProviderView } from "../../src/oidc/schema.ts";
import { SignInPage } from "../../templates/auth/sign-in.tsx";
import { PageHeader } from "../../templates/components/page-header.tsx";
import { Layout } from "../../templates/layout.tsx";
import { BindingContinuePage, BindingQuestion, BindingSection } from "../../templates/oidc/binding.tsx";
import { OidcFailedPage } from "../../templates/oidc/failed.tsx";
import { ProviderFormPage } from "../../templates/oidc/form.tsx";
import { BoundProviderPage, ProviderDelete, ProviderPage } from "../../templates/oidc/provider.tsx";
import { ProviderButton } from "../../templates/oidc/sign-in-button.tsx";
import type { PageContext } from "../../templates/page.ts";
import { texts } from "../../templates/texts/texts.ts";

/** The pages about the sign-in provider with sample data, for looking at and for tests of the templates. */
const at = Date.UTC(2026, 10, 18, 9, 30, 0);

function sampleProvider(changes: Partial<ProviderView> = {}): ProviderView {
  return {
    id: "provider-1",
    slug: "home",
    display_name: "Home Identity",
    client_id: "tidemark",
    has_client_secret: true,
    problem: null,
    is_discovery_enabled: true,
    issuer_url: "https://id.example.org/application/o/tidemark/",
    authorization_url: null,
    token_url: null,
    jwks_url: null,
    userinfo_url: null,
    scopes: "openid email profile",
    icon_url: null,
    description: "",
    is_enabled: true,
    is_bound: false,
    callback_url: "https://tidemark.example.org/auth/oidc/home/callback",
    created_at: at,
    updated_at: at,
    ...changes,
  };
}

const manual = {
  is_discovery_enabled: false,
  authorization_url: "https://id.example.org/application/o/authorize/",
  token_url: "https://id.example.org/application/o/token/",
  jwks_url: "https://id.example.org/application/o/tidemark/jwks/",
  description: "Registered by Ana; the client secret expires in March.",
};
const example = "https://tidemark.example.org/auth/oidc/home/callback";
const none = { is_bound: false, provider: null, issuer: null, subject: null, bound_at: null };
const bound = {
  ...none,
  is_bound: true,
  issuer: "https://id.example.org/application/o/tidemark/",
  subject: "CiQwOGE4Njg0Yi1kYjg4LTRiNzMtOTBhOS0zY2QxNjYxZjU0NjYSBWxvY2Fs",
  bound_at: at,
};

function ProviderSample({ ctx, provider }: { ctx: PageContext; provider: ProviderView | null }) {
  return <ProviderPage ctx={ctx} provider={provider} example_callback_url={example} />;
}

function FormSample({ ctx, isManual, errors = {} }: { ctx: PageContext; isManual: boolean; errors?: FieldErrors }) {
  const values: Readonly<Record<string, unknown>> = {
    ...sampleProvider(isManual ? manual : {}),
    client_secret: undefined,
  };
  const form = { fields: fields(ProviderInput, values), values, errors };
  return <ProviderFormPage ctx={ctx} provider={null} callback_url={example} {...form} />;
}

function AccountSample({ ctx, provider }: { ctx: PageContext; provider: ProviderView | null }) {
  return (
    <Layout ctx={ctx} title={texts(ctx).common.user_settings}>
      <PageHeader ctx={ctx} title={texts(ctx).common.user_settings} />
      <BindingSection ctx={ctx} provider={provider} binding={provider?.is_bound === true ? bound : none} />
    </Layout>
  );
}

const question = { name: "Home Identity" };

export const identityPages: Readonly<Record<string, (ctx: PageContext) => unknown>> = {
  "/provider-none": (ctx) => <ProviderSample ctx={ctx} provider={null} />,
  "/provider-none-no-base": (ctx) => <ProviderPage ctx={ctx} provider={null} example_callback_url={null} />,
  "/provider-unbound": (ctx) => <ProviderSample ctx={ctx} provider={sampleProvider()} />,
  "/provider-bound": (ctx) => <ProviderSample ctx={ctx} provider={sampleProvider({ ...manual, is_bound: true })} />,
  "/provider-disabled": (ctx) => <ProviderSample ctx={ctx} provider={sampleProvider({ is_enabled: false })} />,
  "/provider-form": (ctx) => <FormSample ctx={ctx} isManual={false} />,
  "/provider-form-manual": (ctx) => (
    <FormSample ctx={ctx} isManual errors={{ token_url: plain("Without discovery this address is required") }} />
  ),
  "/provider-form-bound": (ctx) => <BoundProviderPage ctx={ctx} provider={sampleProvider({ is_bound: true })} />,
  "/provider-delete": (ctx) => <ProviderDelete ctx={ctx} provider={sampleProvider()} />,
  "/account-no-provider": (ctx) => <AccountSample ctx={ctx} provider={null} />,
  "/account-unbound": (ctx) => <AccountSample ctx={ctx} provider={sampleProvider()} />,
  "/account-disabled": (ctx) => <AccountSample ctx={ctx} provider={sampleProvider({ is_enabled: false })} />,
  "/account-bound": (ctx) => <AccountSample ctx={ctx} provider={sampleProvider({ is_bound: true })} />,
  "/bind": (ctx) => <BindingQuestion ctx={ctx} kind="bind" {...question} errors={{}} />,
  "/unbind": (ctx) => (
    <BindingQuestion
      ctx={ctx}
      kind="unbind"
      {...question}
      errors={{ current_password: plain("The password is wrong") }}
    />
  ),
  "/bind-continue": (ctx) => (
    <BindingContinuePage ctx={ctx} name={question.name} authorization_url="https://id.example.org/authorize?state=x" />
  ),
  "/login-provider": (ctx) => (
    <SignInPage
      ctx={{ ...ctx, user: null }}
      username=""
      next=""
      refusal={null}
      reason="unsaved"
      others={<ProviderButton ctx={ctx} provider={sampleProvider()} next="" />}
    />
  ),
  "/login-provider-icon": (ctx) => (
    <SignInPage
      ctx={{ ...ctx, user: null }}
      username=""
      next=""
      refusal={{ kind: "wrong" }}
      reason="asked"
      others={
        <ProviderButton
          ctx={ctx}
          provider={sampleProvider({
            display_name: "The company's single sign-on for everybody in the house",
            icon_url: "https://icons.invalid/x.svg",
          })}
          next="/trackers"
        />
      }
    />
  ),
  "/oidc-failed": (ctx) => <OidcFailedPage ctx={{ ...ctx, user: null }} />,
  "/oidc-failed-binding": (ctx) => <OidcFailedPage ctx={ctx} />,
};
