import type { CredentialView } from "../../src/credentials/schema.ts";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import { LinkButton } from "../components/button.tsx";
import { DeleteUnused, type QuestionProps } from "../components/confirm.tsx";
import { Form } from "../components/form.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { SecretProblem } from "../components/secret-problem.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "../trackers/address.ts";
import { CredentialRefusals } from "./state.tsx";

interface CredentialFormPageProps {
  ctx: PageContext;
  /** Null for a new one. */
  credential: CredentialView | null;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
}

export function CredentialFormPage({ ctx, credential, fields, values, errors }: CredentialFormPageProps) {
  const t = texts(ctx).credentials;
  const title = credential === null ? t.add : texts(ctx).common.edit_title(credential.name);
  return (
    <Layout ctx={ctx} title={title} section="credentials">
      <PageHeader
        ctx={ctx}
        title={title}
        parent={{ title: t.title, href: "/credentials" }}
        actions={
          credential === null ? undefined : (
            <LinkButton ctx={ctx} href={`/credentials/${credential.id}/delete`} icon="trash" opens_dialog>
              {t.delete}
            </LinkButton>
          )
        }
      />
      {credential === null ? null : (
        <>
          <SecretProblem ctx={ctx} problem={credential.problem} title={t.unreadable_title}>
            {t.unreadable_text}
          </SecretProblem>
          {credential.problem === null ? <CredentialRefusals ctx={ctx} credential={credential} /> : null}
        </>
      )}
      <Form
        ctx={ctx}
        id="credential-form"
        area="credentials"
        action={credential === null ? "/credentials" : `/credentials/${credential.id}`}
        fields={fields}
        values={values}
        errors={errors}
        submit={credential === null ? t.add : t.save}
        cancel_href="/credentials"
        is_edit={credential !== null}
        stored={credential?.secret_fields.map((name) => `secret.${name}`)}
      />
    </Layout>
  );
}

export function CredentialDelete({ ctx, credential, error }: QuestionProps<{ credential: CredentialView }>) {
  const t = texts(ctx).credentials;
  const asked = { ctx, error, path: `/credentials/${credential.id}` };
  return (
    <DeleteUnused
      {...asked}
      section="credentials"
      texts={t}
      name={credential.name}
      cancel_href={`${asked.path}/edit`}
      users={credential.users.map(({ kind, id, name }) => (
        <>
          {t.user_kind[kind]}{" "}
          <Link ctx={ctx} href={kind === "tracker" ? trackerPath(name) : `/connections/${id}`}>
            {name}
          </Link>
        </>
      ))}
    />
  );
}
