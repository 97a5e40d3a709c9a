import type { ConnectionView } from "../../src/connections/schema.ts";
import type { Said } from "../../src/messages/message.ts";
import { Confirm } from "../components/dialog.tsx";
import { Link } from "../components/link.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface ConnectionDeleteProps {
  ctx: PageContext;
  connection: ConnectionView;
  error?: Said | undefined;
}

/** The question alone, as htmx asks for it. */
export function ConnectionDelete({ ctx, connection, error }: ConnectionDeleteProps) {
  const t = texts(ctx).connections;
  return (
    <Confirm
      ctx={ctx}
      title={t.delete_title(connection.name)}
      verb={t.delete}
      kind="danger"
      action={`/connections/${connection.id}/delete`}
      cancel_href={`/connections/${connection.id}`}
      error={error === undefined ? undefined : translateMessage(ctx.language, error)}
    >
      {connection.executors.length === 0 ? (
        <p>{t.delete_text}</p>
      ) : (
        <>
          <p>{t.in_use_text}</p>
          <ul>
            {connection.executors.map((executor) => (
              <li>
                <Link ctx={ctx} href={`/executors/${executor.id}`}>
                  {executor.name}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </Confirm>
  );
}

/** The same question as a page of its own, without script. */
export function ConnectionDeletePage(props: ConnectionDeleteProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).connections.delete} section="connections">
      <ConnectionDelete {...props} />
    </Layout>
  );
}
