import type { TrackerView } from "../../src/trackers/schema.ts";
import { Confirm, DeleteText, type QuestionProps } from "../components/confirm.tsx";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";

export function TrackerDelete({ ctx, tracker, error }: QuestionProps<{ tracker: TrackerView }>) {
  const t = texts(ctx).trackers;
  const users = [...new Set(tracker.executors.map((executor) => executor.name))];
  const path = trackerPath(tracker.name);
  return (
    <Confirm
      ctx={ctx}
      section="trackers"
      title={t.delete_title(tracker.name)}
      verb={t.delete}
      action={`${path}/delete`}
      cancel_href={path}
      error={error}
    >
      <DeleteText text={t.delete_text} in_use_text={t.in_use_text} users={users} />
    </Confirm>
  );
}
