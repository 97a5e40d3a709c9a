import { CredentialDelete, CredentialFormPage } from "../../../templates/credentials/form.tsx";
import { CredentialsPage } from "../../../templates/credentials/list.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { CredentialInput } from "../../credentials/schema.ts";
import { type FieldDescription, fields } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import { sources } from "../../sources/index.ts";
import type { App } from "../context.ts";
import type { PageSettings } from "./page-context.ts";
import { resourcePages } from "./resource-pages.ts";

/** The fields of a new one: of all kinds those that a source or a connection takes. */
function offeredFields({ connections }: Pick<Services, "connections">, values: Readonly<Record<string, unknown>>) {
  const kindOf = (described: readonly FieldDescription[]) => described.find(({ name }) => name === "kind");
  const runtimes = kindOf(fields(connections.Input, {}))?.options.map(({ value }) => value) ?? [];
  const taken = new Set([...Object.keys(sources), ...runtimes]);
  const described = fields(CredentialInput, values);
  const options = kindOf(described)?.options.filter(({ value }) => taken.has(value)) ?? [];
  return described.map((field) => (field.name === "kind" ? { ...field, options } : field));
}

export function credentialPages(app: App, services: Services, page: PageSettings): void {
  const { credentials } = services;
  resourcePages(app, page, {
    path: "/credentials",
    service: credentials,
    list: (props) => <CredentialsPage {...props} />,
    begin: (c) => ({ kind: c.req.query("kind") ?? "oci" }),
    describe: (values, stored) => {
      if (stored === null) return offeredFields(services, values);
      const described = fields(CredentialInput, { ...values, kind: stored.kind });
      if (stored.problem?.code !== "kind_unknown") return described;
      return described.filter(({ name }) => name !== "kind" && name !== "secret");
    },
    draw: ({ stored, ...props }) => <CredentialFormPage credential={stored} {...props} />,
    input: (sent, stored) => {
      const { kind: _fixed, ...changes } = sent;
      return stored === null ? sent : changes;
    },
    saved: ({ ctx, view, is_new }) => {
      const text = texts(ctx).common.kept(view.name, is_new);
      return { path: "/credentials", notice: { tone: "current", text } };
    },
    delete_question: ({ stored, ...props }) => <CredentialDelete credential={stored} {...props} />,
  });
}
