import type { TrackerView } from "../../src/trackers/schema.ts";
import { DeleteQuestion, DeleteText, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";

export function TrackerDelete({ ctx, tracker, error }: QuestionProps<{ tracker: TrackerView }>) {
  const t = texts(ctx).trackers;
  const users = [...new Set(tracker.executors.map((executor) => executor.name))];
  const path = trackerPath(tracker.name);
  return (
    <DeleteQuestion ctx={ctx} section="trackers" texts={t} name={tracker.name} path={path} error={error}>
      <DeleteText text={t.delete_text} in_use_text={t.in_use_text} users={users} />
    </DeleteQuestion>
  );
}
