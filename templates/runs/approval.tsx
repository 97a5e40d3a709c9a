import type { ExecutorView } from "../../src/executors/schema.ts";
import { type Message, say } from "../../src/messages/message.ts";
import { planOf, type RunDetailView, type RunView } from "../../src/runs/schema.ts";
import type { BreakingStep } from "../../src/trackers/notes/schema.ts";
import { LinkButton } from "../components/button.tsx";
import { Confirm, NothingAsked } from "../components/confirm.tsx";
import { Facts } from "../components/facts.tsx";
import { Banner } from "../components/notice.tsx";
import { Time } from "../components/time.tsx";
import { Changes, carriedCount } from "../executors/plan.tsx";
import { openingWords } from "../executors/window-words.ts";
import { formatShort } from "../format.ts";
import type { PageContext } from "../page.ts";
import { translateMessage, translateSentence } from "../texts/messages.ts";
import { texts } from "../texts/texts.ts";
import { BreakingUpdate } from "../trackers/notes.tsx";
import { isAwaiting, RunState } from "./state.tsx";
import { RunVersions } from "./versions.tsx";

export type Decision = "approve" | "refuse";

interface ApprovalBannerProps {
  ctx: PageContext;
  run_id: string;
  until: number | null;
}

/** A run that awaits approval, with both actions; each asks for confirmation and shows the facts. */
export function ApprovalBanner({ ctx, run_id, until }: ApprovalBannerProps) {
  const t = texts(ctx).runs.approval;
  return (
    <Banner
      tone="attention"
      title={t.banner}
      action={
        <>
          <LinkButton ctx={ctx} href={`/runs/${run_id}/approve`} kind="main" icon="check" opens_dialog>
            {t.approve}
          </LinkButton>
          <LinkButton ctx={ctx} href={`/runs/${run_id}/refuse`} opens_dialog>
            {t.refuse}
          </LinkButton>
        </>
      }
    >
      {until === null ? null : t.banner_text(formatShort(ctx, until))}
    </Banner>
  );
}

type RunLike = Pick<RunView, "executor" | "from" | "to" | "approval_until"> & Pick<RunDetailView, "plan" | "plan_hash">;

interface ApprovalFactsProps {
  ctx: PageContext;
  run: RunLike;
  executor: ExecutorView;
  breaking: readonly BreakingStep[];
}

/** What the decision is about: versions, target, deadline, and the plan field by field. */
export function ApprovalFacts({ ctx, run, executor, breaking }: ApprovalFactsProps) {
  const t = texts(ctx);
  const plan = planOf(run);
  const [opening] = executor.next_windows;
  const isClosed = executor.trigger === "window" && executor.open_window === null;
  return (
    <>
      <Facts
        items={[
          [t.common.version, <RunVersions ctx={ctx} run={run} />],
          [t.common.target, t.executors.target_on(executor.target.id, executor.connection.name)],
          [t.runs.approval.until, <Time ctx={ctx} at={run.approval_until} form="short" />],
          isClosed && opening !== undefined ? [t.executors.next, openingWords(ctx, opening)] : null,
          run.plan_hash === null
            ? null
            : [
                t.runs.plan,
                <span class="mono" title={run.plan_hash}>
                  {t.common.plan_hash(run.plan_hash.slice(0, 12))}
                </span>,
              ],
        ]}
      />
      {isClosed ? <p class="quiet">{t.runs.approval.window_text}</p> : null}
      <BreakingUpdate ctx={ctx} steps={breaking} />
      {plan === null ? null : (
        <>
          {plan.warnings.map(({ message_data }) => (
            <Banner tone="attention">{translateSentence(ctx.language, message_data)}</Banner>
          ))}
          <Changes ctx={ctx} diff={plan.diff} carried={carriedCount(plan.carried)} />
        </>
      )}
    </>
  );
}

interface ApprovalQuestionProps {
  ctx: PageContext;
  run: RunDetailView;
  executor: ExecutorView;
  decision: Decision;
  breaking: readonly BreakingStep[];
  error?: Message | undefined;
}

/** Confirms the decision; the plan's hash is sent along. */
export function ApprovalQuestion({ ctx, run, executor, decision, breaking, error }: ApprovalQuestionProps) {
  const t = texts(ctx).runs.approval;
  const isApproval = decision === "approve";
  const title = isApproval ? t.approve : t.refuse;
  const back = `/runs/${run.id}`;
  if (!isAwaiting(run)) {
    const why = say(`runs.${run.approval === "approved" ? "already_approved" : "not_awaiting"}`);
    return (
      <NothingAsked {...{ ctx, title, back, error }} section="runs" heading={translateMessage(ctx.language, why)}>
        <p>
          <RunState ctx={ctx} run={run} />
        </p>
      </NothingAsked>
    );
  }
  return (
    <Confirm
      ctx={ctx}
      section="runs"
      title={isApproval ? t.approve_title(run.executor) : t.refuse_title(run.executor)}
      verb={isApproval ? t.approve_verb : t.refuse_verb}
      page_title={title}
      kind={isApproval ? "main" : "danger"}
      action={`${back}/approvals`}
      fields={{ plan_hash: run.plan_hash ?? "", decision }}
      cancel_href={back}
      error={error}
    >
      <ApprovalFacts ctx={ctx} run={run} executor={executor} breaking={breaking} />
      <p class="quiet">{isApproval ? t.approve_text : t.refuse_text}</p>
    </Confirm>
  );
}
