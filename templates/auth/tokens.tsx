import type { ApiTokenView, CreatedApiTokenView } from "../../src/auth/schema.ts";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { LinkButton } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { Confirm, type QuestionProps } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Form } from "../components/form.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { PasswordField, PasswordOwner } from "./password-field.tsx";

interface TokenFormPageProps {
  ctx: PageContext;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
}

export function TokenFormPage({ ctx, fields, values, errors }: TokenFormPageProps) {
  const t = texts(ctx).auth;
  return (
    <Layout ctx={ctx} title={t.add_token}>
      <PageHeader
        ctx={ctx}
        title={t.add_token}
        parent={{ title: texts(ctx).common.user_settings, href: "/account" }}
        lead={t.token_lead}
      />
      <Form
        ctx={ctx}
        id="token-form"
        area="api_tokens"
        action="/account/tokens"
        fields={fields}
        values={values}
        errors={errors}
        submit={t.add_token}
        cancel_href="/account"
        below={{ scope: <p class="note">{t.scope_help}</p> }}
        replaced={{
          current_password: (
            <>
              <PasswordOwner ctx={ctx} />
              <PasswordField
                ctx={ctx}
                name="current_password"
                title={t.current_password}
                autocomplete="current-password"
                error={errors.current_password}
                help={t.confirm_with_password}
              />
            </>
          ),
        }}
      />
    </Layout>
  );
}

interface CreatedTokenPageProps {
  ctx: PageContext;
  token: CreatedApiTokenView;
  base_url: string;
}

/** The only time the token is shown. Replaces the form, by its id, when htmx sent it. */
export function CreatedTokenPage({ ctx, token, base_url }: CreatedTokenPageProps) {
  const t = texts(ctx).auth;
  return (
    <Layout ctx={ctx} title={t.token_created(token.name)}>
      <PageHeader
        ctx={ctx}
        title={t.token_created(token.name)}
        parent={{ title: texts(ctx).common.user_settings, href: "/account" }}
      />
      <div id="token-form" class="token" tabindex={-1} data-errors>
        <Banner tone="attention" title={t.token_once_title}>
          {t.token_once}
        </Banner>
        <Code ctx={ctx} text={token.token} what={t.token_what} />
        <Facts
          items={[
            [texts(ctx).common.name, token.name],
            [t.scope, t.scopes[token.scope]],
            [t.expires, <Time ctx={ctx} at={token.expires_at} form="short" />],
          ]}
        />
        <h2>{t.token_use}</h2>
        <Code ctx={ctx} text={`curl -H "Authorization: Bearer $TOKEN" ${base_url}/api/session`} />
        <p>
          <LinkButton ctx={ctx} href="/account#tokens" kind="main">
            {t.token_done}
          </LinkButton>
        </p>
      </div>
    </Layout>
  );
}

export function TokenRevoke({ ctx, token, error }: QuestionProps<{ token: ApiTokenView }>) {
  const t = texts(ctx).auth;
  return (
    <Confirm
      ctx={ctx}
      title={t.revoke_title(token.name)}
      verb={t.revoke_verb}
      action={`/account/tokens/${token.id}/revoke`}
      cancel_href="/account"
      error={error}
    >
      <p>{t.revoke_text}</p>
      <Facts
        items={[
          [t.scope, t.scopes[token.scope]],
          [t.expires, <Time ctx={ctx} at={token.expires_at} form="short" />],
          [
            t.last_used,
            token.last_used_at === null ? texts(ctx).common.never : <Time ctx={ctx} at={token.last_used_at} />,
          ],
          ...(token.last_used_address === null
            ? []
            : [[t.last_used_address, <code>{token.last_used_address}</code>] as const]),
        ]}
      />
    </Confirm>
  );
}
