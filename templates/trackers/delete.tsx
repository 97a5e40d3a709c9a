import type { Said } from "../../src/messages/message.ts";
import type { TrackerView } from "../../src/trackers/schema.ts";
import { Confirm } from "../components/dialog.tsx";
import { Layout } from "../layout.tsx";
import type { PageContext } from "../page.ts";
import { translateMessage } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { trackerPath } from "./address.ts";

interface TrackerDeleteProps {
  ctx: PageContext;
  tracker: TrackerView;
  error?: Said | undefined;
}

/** The question alone, as htmx asks for it. */
export function TrackerDelete({ ctx, tracker, error }: TrackerDeleteProps) {
  const t = texts(ctx).trackers;
  const users = [...new Set(tracker.executors.map((executor) => executor.name))];
  const path = trackerPath(tracker.name);
  return (
    <Confirm
      ctx={ctx}
      title={t.delete_title(tracker.name)}
      verb={t.delete}
      kind="danger"
      action={`${path}/delete`}
      cancel_href={path}
      error={error === undefined ? undefined : translateMessage(ctx.language, error)}
    >
      {users.length === 0 ? (
        <p>{t.delete_text}</p>
      ) : (
        <>
          <p>{t.in_use_text}</p>
          <ul>
            {users.map((name) => (
              <li>{name}</li>
            ))}
          </ul>
        </>
      )}
    </Confirm>
  );
}

/** The same question as a page of its own, without script. */
export function TrackerDeletePage(props: TrackerDeleteProps) {
  return (
    <Layout ctx={props.ctx} title={texts(props.ctx).trackers.delete} section="trackers">
      <TrackerDelete {...props} />
    </Layout>
  );
}
