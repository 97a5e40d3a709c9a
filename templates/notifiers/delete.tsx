import type { NotifierView } from "../../src/notifications/schema.ts";
import { Confirm, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";

export function NotifierDelete({ ctx, notifier, error }: QuestionProps<{ notifier: NotifierView }>) {
  const t = texts(ctx).notifiers;
  return (
    <Confirm
      ctx={ctx}
      section="notifiers"
      title={t.delete_title(notifier.name)}
      verb={t.delete}
      action={`/notifiers/${notifier.id}/delete`}
      cancel_href={`/notifiers/${notifier.id}`}
      error={error}
    >
      <p>{t.delete_text}</p>
      {notifier.pending_count === 0 ? null : <p>{t.delete_waiting(notifier.pending_count)}</p>}
    </Confirm>
  );
}
