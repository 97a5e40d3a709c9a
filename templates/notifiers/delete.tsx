import type { NotifierView } from "../../src/notifications/schema.ts";
import { Confirm } from "../components/dialog.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

interface NotifierDeleteProps {
  ctx: PageContext;
  notifier: NotifierView;
}

/** The question alone, as htmx asks for it. */
export function NotifierDelete({ ctx, notifier }: NotifierDeleteProps) {
  const t = texts(ctx).notifiers;
  return (
    <Confirm
      ctx={ctx}
      title={t.delete_title(notifier.name)}
      verb={t.delete}
      kind="danger"
      action={`/notifiers/${notifier.id}/delete`}
      cancel_href={`/notifiers/${notifier.id}`}
    >
      <p>{t.delete_text}</p>
      {notifier.pending_count === 0 ? null : <p>{t.delete_waiting(notifier.pending_count)}</p>}
    </Confirm>
  );
}

/** The same question as a page of its own, without script. */
export function NotifierDeletePage(props: NotifierDeleteProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).notifiers.delete} section="notifiers">
      <NotifierDelete {...props} />
    </Layout>
  );
}
