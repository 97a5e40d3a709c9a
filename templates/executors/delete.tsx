import type { ExecutorView } from "../../src/executors/schema.ts";
import { DeleteQuestion, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";

/** Its snapshots are deleted too and cannot be recovered, so the name has to be typed. */
export function ExecutorDelete({
  ctx,
  executor,
  snapshot_count,
  error,
}: QuestionProps<{ executor: ExecutorView; snapshot_count: number }>) {
  const t = texts(ctx).executors;
  const asked = { ctx, error, path: `/executors/${executor.id}` };
  const typed = snapshot_count > 0 ? executor.name : undefined;
  return (
    <DeleteQuestion {...asked} section="executors" texts={t} name={executor.name} type_name={typed}>
      <p>{t.delete_text}</p>
      {snapshot_count > 0 ? <p>{t.delete_runs(snapshot_count)}</p> : null}
    </DeleteQuestion>
  );
}
