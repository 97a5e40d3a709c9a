import type { NotifierView } from "../../src/notifications/schema.ts";
import { DeleteQuestion, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";

export function NotifierDelete({ ctx, notifier, error }: QuestionProps<{ notifier: NotifierView }>) {
  const t = texts(ctx).notifiers;
  const path = `/notifiers/${notifier.id}`;
  return (
    <DeleteQuestion ctx={ctx} section="notifiers" texts={t} name={notifier.name} path={path} error={error}>
      <p>{t.delete_text}</p>
      {notifier.pending_count === 0 ? null : <p>{t.delete_waiting(notifier.pending_count)}</p>}
    </DeleteQuestion>
  );
}
