import type { CredentialView } from "../../src/credentials/schema.ts";
import type { Said } from "../../src/messages/message.ts";
import { Confirm } from "../components/dialog.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface CredentialDeleteProps {
  ctx: PageContext;
  credential: CredentialView;
  error?: Said | undefined;
}

/** The question alone, as htmx asks for it. */
export function CredentialDelete({ ctx, credential, error }: CredentialDeleteProps) {
  const t = texts(ctx).credentials;
  return (
    <Confirm
      ctx={ctx}
      title={t.delete_title(credential.name)}
      verb={t.delete}
      kind="danger"
      action={`/credentials/${credential.id}/delete`}
      cancel_href={`/credentials/${credential.id}/edit`}
      error={error === undefined ? undefined : translateMessage(ctx.language, error)}
    >
      {credential.users.length === 0 ? (
        <p>{t.delete_text}</p>
      ) : (
        <>
          <p>{t.in_use_text}</p>
          <ul>
            {credential.users.map((user) => (
              <li>
                {t.user_kind[user.kind]} {user.name}
              </li>
            ))}
          </ul>
        </>
      )}
    </Confirm>
  );
}

/** The same question as a page of its own, without script. */
export function CredentialDeletePage(props: CredentialDeleteProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).credentials.delete} section="credentials">
      <CredentialDelete {...props} />
    </Layout>
  );
}
