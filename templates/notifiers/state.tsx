import type { NotifierView } from "../../src/notifications/schema.ts";
import { State } from "../components/state.tsx";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";

const looks = {
  sending: { tone: "current" },
  unreadable: { tone: "failed" },
  stopped: { tone: "failed" },
  disabled: { tone: "quiet", icon: "pause" },
} as const;

interface NotifierStateProps {
  ctx: PageContext;
  notifier: Pick<NotifierView, "state" | "problem">;
  solid?: boolean;
}

/** Whether it sends, and in the tooltip why not. */
export function NotifierState({ ctx, notifier: { state, problem }, solid }: NotifierStateProps) {
  const t = texts(ctx).notifiers;
  const unreadable = problem === null ? undefined : translateSentence(ctx.language, problem.message_data);
  return (
    <State ctx={ctx} {...looks[state]} solid={solid} title={state === "stopped" ? t.stopped_title : unreadable}>
      {state === "sending" ? texts(ctx).common.enabled : t.filter_states[state]}
    </State>
  );
}
