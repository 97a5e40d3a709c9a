import type { Child } from "hono/jsx";
import { type ConnectionView, newCredential } from "../../src/connections/schema.ts";
import type { FieldErrors } from "../../src/errors.ts";
import type { FieldDescription } from "../../src/forms/fields.ts";
import type { Message } from "../../src/messages/message.ts";
import type { Problem } from "../../src/messages/schema.ts";
import { Form, redraws, valueAt } from "../components/form.tsx";
import { Link } from "../components/link.tsx";
import { Banner } from "../components/notice.tsx";
import { PageHeader } from "../components/page-header.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface Choice {
  value: string;
  title: string;
}

/** What the form shows for its values. */
export interface ConnectionFormFacts {
  fields: readonly FieldDescription[];
  values: Readonly<Record<string, unknown>>;
  /** Those of the chosen kind. */
  credentials: readonly Choice[];
  needs_secret: boolean;
  /** By field of the configuration: what the chosen credential has for it, and what counts while it is blank. */
  choices: Readonly<Record<string, { options: readonly Choice[]; current: string }>>;
  /** Why an entered secret cannot be used, and its field. */
  problem: { path: string; message: Message } | null;
  /** Warnings about the configuration in the form. */
  warnings: readonly Problem[];
}

interface ConnectionFormPageProps extends ConnectionFormFacts {
  ctx: PageContext;
  /** Null for a new one. */
  connection: ConnectionView | null;
  errors: FieldErrors;
}

const formId = "connection-form";

export function ConnectionFormPage(props: ConnectionFormPageProps) {
  const { ctx, connection } = props;
  const t = texts(ctx).connections;
  const title = connection === null ? t.add : texts(ctx).common.edit_title(connection.name);
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
      {/* Of an unknown kind, which has no field that they could stand below. */}
      {props.fields.some(({ name }) => name === "config") ? null : <Warnings ctx={ctx} warnings={props.warnings} />}
      <Form
        ctx={ctx}
        id={formId}
        area="connections"
        action={action}
        fields={drawnFields(props.fields)}
        values={props.values}
        errors={props.errors}
        submit={connection === null ? t.add_and_test : t.save}
        cancel_href={connection === null ? "/connections" : `/connections/${connection.id}`}
        is_edit={connection !== null}
        choices={{ credential_id: credentialChoices(props), ...valueChoices(props) }}
        attributes={{
          "config.address": redrawn,
          "config.tls_verification": redrawn,
          "secret.kubeconfig": { ...redrawn, "hx-trigger": "change, paste delay:100ms" },
        }}
        below={{
          credential_id: <CredentialHelp {...props} />,
          "config.tls_verification": <Warnings ctx={ctx} warnings={props.warnings} />,
          ...secretProblem(props),
        }}
      />
    </Layout>
  );
}

/** With one fold: what is advanced in the configuration is in the form's. */
function drawnFields(fields: readonly FieldDescription[]): readonly FieldDescription[] {
  const ofConfig = fields.filter(({ name }) => name === "config").flatMap(({ children }) => children);
  const plain = ofConfig.filter((field) => !field.is_advanced);
  return [
    ...fields.map((field) => (field.name === "config" ? { ...field, children: plain } : field)),
    ...ofConfig.filter((field) => field.is_advanced),
  ];
}

function credentialChoices({ ctx, connection, credentials, needs_secret }: ConnectionFormPageProps): readonly Choice[] {
  const t = texts(ctx).connections;
  return [
    ...(needs_secret ? [] : [{ value: "", title: texts(ctx).common.none }]),
    ...(connection === null ? [{ value: newCredential, title: t.new_credential }] : []),
    ...credentials,
  ];
}

/** A stored value stays, whether the credential has it or not. With a new credential a blank is not enough: see `createWithSecret`. */
function valueChoices({ ctx, choices, values }: ConnectionFormPageProps): Readonly<Record<string, readonly Choice[]>> {
  const t = texts(ctx);
  const all = Object.entries(choices).map(([field, { options, current }]) => {
    const stored = valueAt(values, `config.${field}`);
    const isKept = typeof stored === "string" && stored !== "" && !options.some(({ value }) => value === stored);
    const usual = values.credential_id === newCredential ? undefined : options.find(({ value }) => value === current);
    const blank = usual === undefined ? t.common.form.choose : t.connections.usual_choice(usual.title);
    const kept = isKept ? [{ value: stored, title: stored }] : [];
    return [`config.${field}`, [{ value: "", title: blank }, ...kept, ...options]] as const;
  });
  return Object.fromEntries(all);
}

function secretProblem({ ctx, problem, errors }: ConnectionFormPageProps): Readonly<Record<string, Child>> {
  if (problem === null || errors[problem.path] !== undefined) return {};
  return {
    [problem.path]: <Banner tone="attention">{translateSentence(ctx.language, problem.message)}</Banner>,
  };
}

function CredentialHelp({ ctx, connection, values }: ConnectionFormPageProps) {
  const t = texts(ctx).connections;
  if (values.credential_id === newCredential) return <p class="help">{t.new_credential_help}</p>;
  return (
    <p class="help">
      {t.credential_help}{" "}
      {connection === null ? null : (
        <Link ctx={ctx} href={`/credentials/new?${new URLSearchParams({ kind: connection.kind })}`}>
          {texts(ctx).credentials.add}
        </Link>
      )}
    </p>
  );
}

function Warnings({ ctx, warnings }: Pick<ConnectionFormPageProps, "ctx" | "warnings">): Child {
  return warnings.map((warning) => (
    <Banner tone="attention">{translateSentence(ctx.language, warning.message_data)}</Banner>
  ));
}
