import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { ProviderView } from "../../src/oidc/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { SecretProblem } from "../components/secret-problem.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { providerPath } from "./paths.ts";

interface ProviderFormPageProps {
  ctx: PageContext;
  /** Null when there is none yet. */
  provider: ProviderView | null;
  /** The provider's redirect address with the entered slug; null without base URL. */
  callback_url: string | null;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
}

export function ProviderFormPage(props: ProviderFormPageProps) {
  const { ctx, provider, callback_url } = props;
  const t = texts(ctx).oidc;
  const note = provider === null ? t.callback_note : t.callback_fixed;
  const title = provider === null ? t.add : texts(ctx).common.edit_title(provider.display_name);
  return (
    <Layout ctx={ctx} title={title} section="settings">
      <PageHeader
        ctx={ctx}
        title={title}
        parent={{ title: t.title, href: providerPath }}
        lead={provider === null ? t.form_lead : undefined}
      />
      <SecretProblem ctx={ctx} problem={provider?.problem ?? null} title={t.unreadable_title}>
        {t.unreadable_text(provider?.is_bound === true)}
      </SecretProblem>
      {provider?.is_bound === true ? <BoundBanner ctx={ctx} /> : null}
      <Form
        ctx={ctx}
        id="provider-form"
        area="oidc_providers"
        action={provider === null ? providerPath : `${providerPath}/edit`}
        fields={props.fields}
        values={props.values}
        errors={props.errors}
        submit={provider === null ? t.add : t.save}
        cancel_href={providerPath}
        is_edit={provider !== null}
        stored={provider?.has_client_secret === true ? ["client_secret"] : []}
        below={callback_url === null ? {} : { slug: <p class="note">{note(callback_url)}</p> }}
      />
    </Layout>
  );
}

/** What the binding locks, and where to remove it. */
export function BoundBanner({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).oidc;
  return (
    <Banner
      tone="quiet"
      title={t.bound_title}
      action={
        <LinkButton ctx={ctx} href="/account#binding">
          {t.open_binding}
        </LinkButton>
      }
    >
      {t.bound_text}
    </Banner>
  );
}
