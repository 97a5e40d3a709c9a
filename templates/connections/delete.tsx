import type { ConnectionView } from "../../src/connections/schema.ts";
import { DeleteQuestion, DeleteText, type QuestionProps } from "../components/confirm.tsx";
import { Link } from "../components/link.tsx";
import { texts } from "../texts/texts.ts";

export function ConnectionDelete({ ctx, connection, error }: QuestionProps<{ connection: ConnectionView }>) {
  const t = texts(ctx).connections;
  const path = `/connections/${connection.id}`;
  return (
    <DeleteQuestion ctx={ctx} section="connections" texts={t} name={connection.name} path={path} error={error}>
      <DeleteText
        text={t.delete_text}
        in_use_text={t.in_use_text}
        users={connection.executors.map((executor) => (
          <Link ctx={ctx} href={`/executors/${executor.id}`}>
            {executor.name}
          </Link>
        ))}
      />
    </DeleteQuestion>
  );
}
