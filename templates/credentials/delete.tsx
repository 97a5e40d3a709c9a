import type { CredentialView } from "../../src/credentials/schema.ts";
import { DeleteQuestion, DeleteText, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";

export function CredentialDelete({ ctx, credential, error }: QuestionProps<{ credential: CredentialView }>) {
  const t = texts(ctx).credentials;
  const asked = { ctx, error, path: `/credentials/${credential.id}` };
  return (
    <DeleteQuestion
      {...asked}
      section="credentials"
      texts={t}
      name={credential.name}
      cancel_href={`${asked.path}/edit`}
    >
      <DeleteText
        text={t.delete_text}
        in_use_text={t.in_use_text}
        users={credential.users.map((user) => `${t.user_kind[user.kind]} ${user.name}`)}
      />
    </DeleteQuestion>
  );
}
