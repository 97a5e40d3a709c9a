import type { AccountView, ApiTokenView } from "../../src/auth/schema.ts";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { BindingView, ProviderView } from "../../src/oidc/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Facts } from "../components/facts.tsx";
import { Form } from "../components/form.tsx";
import { isEmpty, ListBody, type ListProps } from "../components/list-page.tsx";
import { PageHeader, Panel, Section } from "../components/page-header.tsx";
import { Badge } from "../components/state.tsx";
import { Time } from "../components/time.tsx";
import { Layout } from "../layout.tsx";
import { BindingSection } from "../oidc/binding.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface AccountPageProps {
  ctx: PageContext;
  account: AccountView;
  session_expires_at: number;
  tokens: ListProps<ApiTokenView>;
  /** The other way to sign in; null without a provider. */
  provider: ProviderView | null;
  binding: BindingView;
  /** The form for renaming. */
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
}

export function AccountPage(props: AccountPageProps) {
  const { ctx, account } = props;
  const t = texts(ctx).auth;
  return (
    <Layout ctx={ctx} title={texts(ctx).common.user_settings}>
      <PageHeader ctx={ctx} title={texts(ctx).common.user_settings} lead={t.account_lead(account.username)} />
      <Form
        ctx={ctx}
        id="account-form"
        area="account"
        action="/account"
        fields={props.fields}
        values={props.values}
        errors={props.errors}
        submit={t.rename}
        cancel_href="/account"
        below={{ username: <p class="note">{t.rename_help}</p> }}
      />
      <Section title={t.password_section}>
        <Panel>
          <Facts
            wide
            items={[
              [t.password_age, <Time ctx={ctx} at={account.password_changed_at} />],
              [t.session_ends, <Time ctx={ctx} at={props.session_expires_at} form="short" />],
              [t.account_id, <code>{account.id}</code>],
              [texts(ctx).common.created_at, <Time ctx={ctx} at={account.created_at} form="short" />],
            ]}
          />
          <div class="sign-in-actions">
            <LinkButton ctx={ctx} href="/account/password" icon="lock">
              {t.change_password}
            </LinkButton>
            <LinkButton ctx={ctx} href="/account/sessions">
              {t.sessions}
            </LinkButton>
          </div>
        </Panel>
      </Section>
      <BindingSection ctx={ctx} binding={props.binding} provider={props.provider} />
      <Tokens {...props} />
    </Layout>
  );
}

function Tokens({ ctx, tokens }: AccountPageProps) {
  const t = texts(ctx).auth;
  return (
    <Section
      title={t.tokens}
      id="tokens"
      aside={
        <LinkButton ctx={ctx} href="/account/tokens/new" icon="plus" small>
          {t.add_token}
        </LinkButton>
      }
    >
      <p class="section-lead">{t.tokens_text}</p>
      {isEmpty(tokens) ? <p class="panel nothing">{t.tokens_empty}</p> : <TokenList {...tokens} />}
    </Section>
  );
}

function TokenList(list: ListProps<ApiTokenView>) {
  const { ctx } = list;
  const t = texts(ctx).auth;
  return (
    <ListBody
      {...list}
      id="token-list"
      is_section
      caption={t.tokens}
      filters={[
        { name: "scope", title: t.scope, options: Object.entries(t.scopes) },
        { name: "use", title: t.last_used, options: Object.entries(t.token_uses) },
      ]}
      table={{
        columns: [
          { key: "name", title: texts(ctx).common.name, grows: true, sort: "name" },
          { key: "scope", title: t.scope, card_label: "none" },
          { key: "from", title: t.last_used_address, wide_only: true },
          { key: "used", title: t.last_used, align: "end", leads: true, sort: "-used" },
          { key: "expires", title: t.expires, align: "end", sort: "expires" },
        ],
        rows: list.items.map((token) => ({
          id: `token-${token.id}`,
          cells: {
            name: token.name,
            scope: <Badge>{t.scopes[token.scope]}</Badge>,
            used: token.last_used_at === null ? texts(ctx).common.never : <Time ctx={ctx} at={token.last_used_at} />,
            from:
              token.last_used_address === null ? (
                <span class="quiet">–</span>
              ) : (
                <code class="address">{token.last_used_address}</code>
              ),
            expires: <Time ctx={ctx} at={token.expires_at} form="short" />,
          },
          actions: (
            <LinkButton
              ctx={ctx}
              href={`/account/tokens/${token.id}/revoke`}
              kind="bare"
              small
              icon="trash"
              opens_dialog
            >
              {t.revoke}
            </LinkButton>
          ),
        })),
      }}
    />
  );
}
