import type { CredentialView } from "../../src/credentials/schema.ts";
import { Confirm, DeleteText, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";

export function CredentialDelete({ ctx, credential, error }: QuestionProps<{ credential: CredentialView }>) {
  const t = texts(ctx).credentials;
  return (
    <Confirm
      ctx={ctx}
      section="credentials"
      title={t.delete_title(credential.name)}
      verb={t.delete}
      action={`/credentials/${credential.id}/delete`}
      cancel_href={`/credentials/${credential.id}/edit`}
      error={error}
    >
      <DeleteText
        text={t.delete_text}
        in_use_text={t.in_use_text}
        users={credential.users.map((user) => `${t.user_kind[user.kind]} ${user.name}`)}
      />
    </Confirm>
  );
}
