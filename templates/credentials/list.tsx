import { CredentialInput, type CredentialView } from "../../src/credentials/schema.ts";
import { fields } from "../../src/forms/fields.ts";
import { AddButton, isWhole, ListPage, type ListProps } from "../components/list-page.tsx";
import { Time } from "../components/time.tsx";
import { formatList } from "../format.ts";
import type { PageContext } from "../page.ts";
import { fieldWords } from "../texts/fields.ts";
import { texts } from "../texts/texts.ts";
import { CredentialState } from "./state.tsx";

export function CredentialsPage(props: ListProps<CredentialView>) {
  const { ctx, items: credentials } = props;
  const t = texts(ctx).credentials;
  const kinds: Readonly<Record<string, string>> = t.kinds;
  return (
    <ListPage
      {...props}
      section="credentials"
      icon="key-round"
      texts={t}
      action={<AddButton ctx={ctx} section="credentials" />}
      filters={[
        { name: "state", title: texts(ctx).common.state_title, options: Object.entries(t.states) },
        { name: "kind", title: texts(ctx).common.kind, options: Object.entries(t.kinds) },
      ]}
      lead={!isWhole(props) ? undefined : t.lead(credentials.length)}
      table={{
        columns: [
          { key: "name", title: texts(ctx).common.name, grows: true, sort: "name" },
          { key: "kind", title: texts(ctx).common.kind, sort: "kind" },
          { key: "state", title: texts(ctx).common.state_title, sort: "state", card_label: "none" },
          { key: "stored", title: t.stored, wide_only: true },
          { key: "users", title: texts(ctx).common.used_by, clips: true, leads: true },
          { key: "changed", title: t.changed, align: "end", sort: "-changed" },
        ],
        rows: credentials.map((credential) => ({
          id: `credential-${credential.id}`,
          href: `/credentials/${credential.id}/edit`,
          cells: {
            name: credential.name,
            kind: kinds[credential.kind] ?? credential.kind,
            state: <CredentialState ctx={ctx} credential={credential} />,
            stored: formatList(ctx.language, storedTitles(ctx, credential).map(inList)),
            users:
              credential.users.length === 0
                ? texts(ctx).common.unused
                : credential.users.map((user) => user.name).join(", "),
            changed: <Time ctx={ctx} at={credential.updated_at} />,
          },
        })),
      }}
    />
  );
}

/** Only the first title of a list begins large, and abbreviations. */
function inList(title: string, index: number): string {
  return index === 0 ? title : title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** The stored fields of a credential, by their titles in the form. */
function storedTitles(ctx: PageContext, { kind, secret_fields }: CredentialView): readonly string[] {
  const secret = fields(CredentialInput, { kind }).find(({ name }) => name === "secret");
  return secret_fields.map((name) => {
    const field = secret?.children.find((each) => each.name === name);
    return field === undefined ? name : fieldWords(ctx.language, "credentials", field).title;
  });
}
