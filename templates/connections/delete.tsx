import type { ConnectionView } from "../../src/connections/schema.ts";
import { Confirm, DeleteText, type QuestionProps } from "../components/confirm.tsx";
import { Link } from "../components/link.tsx";
import { texts } from "../texts/texts.ts";

export function ConnectionDelete({ ctx, connection, error }: QuestionProps<{ connection: ConnectionView }>) {
  const t = texts(ctx).connections;
  return (
    <Confirm
      ctx={ctx}
      section="connections"
      title={t.delete_title(connection.name)}
      verb={t.delete}
      action={`/connections/${connection.id}/delete`}
      cancel_href={`/connections/${connection.id}`}
      error={error}
    >
      <DeleteText
        text={t.delete_text}
        in_use_text={t.in_use_text}
        users={connection.executors.map((executor) => (
          <Link ctx={ctx} href={`/executors/${executor.id}`}>
            {executor.name}
          </Link>
        ))}
      />
    </Confirm>
  );
}
