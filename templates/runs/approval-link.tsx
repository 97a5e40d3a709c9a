import type { ExecutorView } from "../../src/executors/schema.ts";
import type { RunDetailView } from "../../src/runs/schema.ts";
import type { BreakingStep } from "../../src/trackers/notes/schema.ts";
import { Button, Csrf, LinkButton } from "../components/button.tsx";
import { BareLayout } from "../layout.tsx";
import { type PageContext, url } from "../page.ts";
import { texts } from "../texts/texts.ts";
import { ApprovalFacts, type Decision } from "./approval.tsx";

interface ApprovalLinkPageProps {
  ctx: PageContext;
  run: RunDetailView;
  executor: ExecutorView;
  breaking: readonly BreakingStep[];
  token: string;
}

/** For anyone who has the link of a notification: the one plan that it decides on, and nothing else. */
export function ApprovalLinkPage({ ctx, run, executor, breaking, token }: ApprovalLinkPageProps) {
  const t = texts(ctx).runs.approval;
  return (
    <BareLayout ctx={ctx} title={t.banner}>
      <div class="approval">
        <div>
          <h1>{t.approve_title(run.executor)}</h1>
          <p class="lead">{t.link_lead}</p>
        </div>
        <ApprovalFacts ctx={ctx} run={run} executor={executor} breaking={breaking} />
        <p class="quiet">{t.approve_text}</p>
        <form method="post" action={url(ctx, `/approvals/${run.id}/${token}`)}>
          <Csrf ctx={ctx} />
          <p class="approval-actions">
            <Button type="submit" kind="main" icon="check" name="decision" value="approve">
              {t.approve_verb}
            </Button>
            <Button type="submit" name="decision" value="refuse">
              {t.refuse_verb}
            </Button>
          </p>
        </form>
      </div>
    </BareLayout>
  );
}

interface ApprovalDoneProps {
  ctx: PageContext;
  run: RunDetailView;
  executor: ExecutorView;
  decision: Decision;
}

/** The result of the decision. */
export function ApprovalDonePage({ ctx, run, executor, decision }: ApprovalDoneProps) {
  const t = texts(ctx).runs.approval;
  const isWaiting = executor.trigger === "window" && executor.open_window === null;
  const done = isWaiting ? t.decided_window_text : t.decided_approved_text;
  return (
    <BareLayout ctx={ctx} title={decision === "approve" ? t.decided_approved : t.decided_refused}>
      <h1>{decision === "approve" ? t.approved(run.executor) : t.refused(run.executor)}</h1>
      <p class="lead">{decision === "approve" ? done : t.decided_refused_text}</p>
    </BareLayout>
  );
}

/** The same page for every link that is not valid, whatever the reason. */
export function ApprovalGonePage({ ctx }: { ctx: PageContext }) {
  const t = texts(ctx).runs.approval;
  return (
    <BareLayout ctx={ctx} title={t.gone}>
      <h1>{t.gone}</h1>
      <p class="lead">{t.gone_text}</p>
      <div class="sign-in">
        <LinkButton ctx={ctx} href="/" kind="main">
          {texts(ctx).auth.sign_in}
        </LinkButton>
      </div>
    </BareLayout>
  );
}
