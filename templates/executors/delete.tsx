import type { ExecutorView } from "../../src/executors/schema.ts";
import type { Said } from "../../src/messages/message.ts";
import { Confirm } from "../components/dialog.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

interface ExecutorDeleteProps {
  ctx: PageContext;
  executor: ExecutorView;
  snapshot_count: number;
  error?: Said | undefined;
}

/** The question alone, as htmx asks for it. Snapshots go with it and cannot be had again, so the name is typed. */
export function ExecutorDelete({ ctx, executor, snapshot_count, error }: ExecutorDeleteProps) {
  const t = texts(ctx).executors;
  return (
    <Confirm
      ctx={ctx}
      title={t.delete_title(executor.name)}
      verb={t.delete}
      kind="danger"
      action={`/executors/${executor.id}/delete`}
      cancel_href={`/executors/${executor.id}`}
      type_name={snapshot_count > 0 ? executor.name : undefined}
      error={error === undefined ? undefined : translateMessage(ctx.language, error)}
    >
      <p>{t.delete_text}</p>
      {snapshot_count > 0 ? <p>{t.delete_runs(snapshot_count)}</p> : null}
    </Confirm>
  );
}

export function ExecutorDeletePage(props: ExecutorDeleteProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).executors.delete} section="executors">
      <ExecutorDelete {...props} />
    </Layout>
  );
}
