import type { Child } from "hono/jsx";
import type { ConnectionView } from "../../src/connections/schema.ts";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { Problem } from "../../src/messages/schema.ts";
import { Form, redraws } from "../components/form.tsx";
import { Link } from "../components/link.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface ConnectionFormPageProps {
  ctx: PageContext;
  /** Null for a new one. */
  connection: ConnectionView | null;
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  errors: FieldErrors;
  /** Those of the chosen kind. */
  credentials: readonly { value: string; title: string }[];
  /** Warnings about the configuration in the form. */
  warnings: readonly Problem[];
}

const formId = "connection-form";

export function ConnectionFormPage(props: ConnectionFormPageProps) {
  const { ctx, connection } = props;
  const t = texts(ctx).connections;
  const title = connection === null ? t.new_connection : texts(ctx).common.edit_title(connection.name);
  const action = connection === null ? "/connections" : `/connections/${connection.id}`;
  const redrawn = redraws({ ctx, id: formId, action });
  return (
    <Layout ctx={ctx} title={title} section="connections">
      <PageHeader
        ctx={ctx}
        title={title}
        parent={
          connection === null
            ? { title: t.title, href: "/connections" }
            : { title: connection.name, href: `/connections/${connection.id}` }
        }
      />
      <Form
        ctx={ctx}
        id={formId}
        area="connections"
        action={action}
        fields={props.fields}
        values={props.values}
        errors={props.errors}
        submit={t.save}
        cancel_href={connection === null ? "/connections" : `/connections/${connection.id}`}
        is_edit={connection !== null}
        choices={{ credential_id: [{ value: "", title: t.no_credential }, ...props.credentials] }}
        attributes={{
          "config.address": redrawn,
          "config.tls_verification": redrawn,
          credential_id: redrawn,
        }}
        below={{
          credential_id: <CredentialHelp ctx={ctx} values={props.values} />,
          "config.tls_verification": <Warnings ctx={ctx} warnings={props.warnings} />,
        }}
      />
    </Layout>
  );
}

function CredentialHelp({ ctx, values }: Pick<ConnectionFormPageProps, "ctx" | "values">) {
  const t = texts(ctx).connections;
  const kind = typeof values.kind === "string" ? values.kind : "docker";
  return (
    <p class="help">
      {t.credential_help}{" "}
      <Link ctx={ctx} href={`/credentials/new?${new URLSearchParams({ kind })}`}>
        {texts(ctx).credentials.new_credential}
      </Link>
    </p>
  );
}

function Warnings({ ctx, warnings }: Pick<ConnectionFormPageProps, "ctx" | "warnings">): Child {
  return warnings.map((warning) => (
    <Banner tone="attention">{translateMessage(ctx.language, warning.message_data)}</Banner>
  ));
}
