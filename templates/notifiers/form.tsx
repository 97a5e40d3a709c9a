import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { NotifierView } from "../../src/notifications/schema.ts";
import { Form } from "../components/form.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { SecretProblem } from "../components/secret-problem.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface NotifierFormPageProps {
  ctx: PageContext;
  /** Null for a new one. */
  notifier: NotifierView | null;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
}

export function NotifierFormPage({ ctx, notifier, fields, values, errors }: NotifierFormPageProps) {
  const t = texts(ctx).notifiers;
  const title = notifier === null ? t.add : texts(ctx).common.edit_title(notifier.name);
  const path = notifier === null ? "/notifiers" : `/notifiers/${notifier.id}`;
  return (
    <Layout ctx={ctx} title={title} section="notifiers">
      <PageHeader ctx={ctx} title={title} parent={{ title: notifier === null ? t.title : notifier.name, href: path }} />
      <SecretProblem ctx={ctx} problem={notifier?.problem ?? null} title={t.unreadable_title}>
        {t.unreadable_text}
      </SecretProblem>
      <Form
        ctx={ctx}
        id="notifier-form"
        area="notifiers"
        action={path}
        fields={fields}
        values={values}
        errors={errors}
        submit={notifier === null ? t.add : t.save}
        cancel_href={path}
        is_edit={notifier !== null}
        stored={
          notifier === null || notifier.problem !== null
            ? []
            : ["url", ...(notifier.has_signing_secret ? ["signing_secret"] : [])]
        }
        below={
          notifier?.has_signing_secret === true
            ? {
                signing_secret: (
                  <div>
                    <label class="check">
                      <input type="checkbox" name="_remove_signing_secret" value="on" />
                      {t.remove_signing_secret}
                    </label>
                  </div>
                ),
              }
            : {}
        }
      />
    </Layout>
  );
}
