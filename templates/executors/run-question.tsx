import { whyNoRun } from "../../src/executors/plan-schema.ts";
import type { ExecutorView } from "../../src/executors/schema.ts";
import type { Message } from "../../src/messages/message.ts";
import type { BreakingStep } from "../../src/trackers/notes/schema.ts";
import { Confirm, NothingAsked } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Banner } from "../components/notice.tsx";
import type { PageContext } from "../page.ts";
import { translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { BreakingUpdate } from "../trackers/notes.tsx";
import { Overrides } from "./actions.tsx";
import type { Planned } from "./detail.tsx";
import { expectedDowntime, Plan, ResultingImages } from "./plan.tsx";
import { unhealthyWords } from "./policy.tsx";

interface RunQuestionProps {
  ctx: PageContext;
  executor: ExecutorView;
  planned: Exclude<Planned, null>;
  breaking: readonly BreakingStep[];
  error?: Message | undefined;
}

/** The current plan, to approve by its hash; if nothing can run it says why and offers no action. */
export function RunQuestion({ ctx, executor, planned, breaking, error }: RunQuestionProps) {
  const t = texts(ctx).executors;
  const back = `/executors/${executor.id}`;
  const view = "view" in planned ? planned.view : null;
  const plan = view === null || whyNoRun(view) !== null ? null : view.plan;
  const disabled = whyDisabled(ctx, executor);
  // The banner above the plan already says that it is disabled.
  const isTold = disabled !== null && view?.unmet?.code === "connection_disabled";
  if (plan === null || disabled !== null) {
    return (
      <NothingAsked
        ctx={ctx}
        title={t.run_now}
        section="executors"
        heading={view === null ? t.plan_failed : t.run_nothing}
        back={back}
        error={error}
      >
        <div class="confirm-facts">
          {disabled === null ? null : <Banner tone="quiet" {...disabled} />}
          {"failure" in planned ? (
            <Banner tone="failed">{translateSentence(ctx.language, planned.failure)}</Banner>
          ) : (
            <Plan ctx={ctx} view={isTold ? { ...planned.view, unmet: null } : planned.view} />
          )}
        </div>
      </NothingAsked>
    );
  }
  return (
    <Confirm
      ctx={ctx}
      section="executors"
      title={t.run_title(executor.name)}
      verb={t.run_verb}
      page_title={t.run_now}
      kind="main"
      action={`/executors/${executor.id}/runs`}
      fields={{ plan_hash: plan.hash }}
      cancel_href={back}
      error={error}
    >
      <Overrides ctx={ctx} executor={executor} />
      {view === null ? null : <ResultingImages ctx={ctx} view={view} />}
      <BreakingUpdate ctx={ctx} steps={breaking} />
      {view === null ? null : <Plan ctx={ctx} view={view} />}
      <Facts
        items={[
          executor.target.is_declarative
            ? null
            : [t.expected_downtime, view === null ? t.expected_unknown : expectedDowntime(ctx, view)],
          [t.health, unhealthyWords(ctx, executor)],
          [
            t.plan,
            <span class="mono" title={plan.hash}>
              {texts(ctx).common.plan_hash(plan.hash.slice(0, 12))}
            </span>,
          ],
        ]}
      />
      <p class="quiet">{t.run_text}</p>
    </Confirm>
  );
}

/** Why a run would be skipped whatever its plan. */
function whyDisabled(ctx: PageContext, { is_enabled, connection }: ExecutorView) {
  const t = texts(ctx).executors;
  if (!is_enabled) return { title: t.disabled_title, children: t.disabled_text };
  if (connection.is_enabled) return null;
  return { title: t.connection_disabled_title, children: t.connection_disabled_text };
}
