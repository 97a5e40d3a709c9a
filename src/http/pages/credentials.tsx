import { CredentialDelete, CredentialFormPage } from "../../../templates/credentials/form.tsx";
import { CredentialsPage } from "../../../templates/credentials/list.tsx";
import { texts } from "../../../templates/texts/texts.ts";
import { CredentialInput } from "../../credentials/schema.ts";
import { fields } from "../../forms/fields.ts";
import type { Services } from "../../services.ts";
import type { App } from "../context.ts";
import type { PageSettings } from "./page-context.ts";
import { resourcePages } from "./resource-pages.ts";

export function credentialPages(app: App, { credentials }: Services, page: PageSettings): void {
  resourcePages(app, page, {
    path: "/credentials",
    service: credentials,
    list: (props) => <CredentialsPage {...props} />,
    begin: (c) => ({ kind: c.req.query("kind") ?? "oci" }),
    describe: (values, stored) => fields(CredentialInput, stored === null ? values : { ...values, kind: stored.kind }),
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
