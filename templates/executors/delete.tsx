import type { ExecutorView } from "../../src/executors/schema.ts";
import { Confirm, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";

/** Snapshots go with it and cannot be had again, so the name is typed. */
export function ExecutorDelete({
  ctx,
  executor,
  snapshot_count,
  error,
}: QuestionProps<{ executor: ExecutorView; snapshot_count: number }>) {
  const t = texts(ctx).executors;
  return (
    <Confirm
      ctx={ctx}
      section="executors"
      title={t.delete_title(executor.name)}
      verb={t.delete}
      action={`/executors/${executor.id}/delete`}
      cancel_href={`/executors/${executor.id}`}
      type_name={snapshot_count > 0 ? executor.name : undefined}
      error={error}
    >
      <p>{t.delete_text}</p>
      {snapshot_count > 0 ? <p>{t.delete_runs(snapshot_count)}</p> : null}
    </Confirm>
  );
}
